import Testing

@testable import Delegation

@Suite("Mailbox: what its end leaves")
struct MailboxEndTests {
  @Test(
    "what waits passes its receipt once, and neither what was taken nor what came later does",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .dropOldest(limit: 5)])
  func receipts(policy: DelegateHub.MailboxPolicy) {
    let posts = 4
    for taken in 0...posts {
      for end in taken...posts {
        for seen in taken...end {
          var scene = EndScene(posts: posts, policy: policy)
          scene.take(taken)
          scene.mailbox.store(upTo: seen)
          scene.mailbox.end(at: end, as: .cancelled)
          scene.mailbox.end(at: posts, as: .cancelled)
          let expected = (0..<posts).map { $0 >= taken && $0 < end ? 1 : 0 }
          #expect(scene.passes == expected, "\(taken) taken, ended at \(end), seen up to \(seen)")
        }
      }
    }
  }

  @Test("what was dropped and not released yet passes its receipt, too")
  func overflow() {
    var scene = EndScene(posts: 3, policy: .latest)
    scene.mailbox.store(upTo: 2)
    scene.mailbox.end(at: 3, as: .cancelled)
    #expect(scene.passes == [1, 1, 1])
  }

  @Test("a successor takes over what was dropped and not released yet")
  func refuseHandedOver() {
    var scene = EndScene(posts: 3, policy: .latest)
    scene.mailbox.store(upTo: 3)
    var successor = scene.mailbox.handOver(policy: .latest, published: 3)
    #expect(scene.mailbox.takeOverflow().isEmpty)
    let overflow = successor?.takeOverflow().map { $0.receipt.map(ObjectIdentifier.init) }
    #expect(overflow == scene.receipts.prefix(2).map(ObjectIdentifier.init))
    #expect(successor?.account(published: 3) == Account(waiting: 1))
  }

  @Test("a successor goes by its own limit, in the order in which it was posted")
  func ownLimit() {
    let policies: [DelegateHub.MailboxPolicy] = [
      .unbounded, .dropOldest(limit: 2), .dropNewest(limit: 1), .latest,
    ]
    for former in policies {
      for policy in policies {
        var scene = EndScene(posts: 4, policy: former)
        scene.mailbox.store(upTo: 3)
        guard var successor = scene.mailbox.handOver(policy: policy, published: 4) else {
          Issue.record("no successor")
          return
        }
        let taken = former.kept(of: [0, 1, 2])
        let expected = policy.kept(of: policy.kept(of: taken) + [3])
        let handled = scene.handleAll(in: &successor, published: 4)
        #expect(handled == expected, "\(former), then \(policy)")
        let account = successor.account(published: 4)
        let dropped = taken.count + 1 - expected.count
        #expect(account == Account(handled: expected.count, dropped: dropped))
        #expect(account.addressed + scene.mailbox.account(published: 4).addressed == 4)
        #expect(successor.takeOverflow().count == 4 - expected.count)
      }
    }
  }

  @Test("a mailbox that was succeeded keeps nothing of what was posted")
  func nothingKept() {
    for (policy, seen) in [(DelegateHub.MailboxPolicy.unbounded, 0), (.dropOldest(limit: 3), 1)] {
      var scene = EndScene(posts: 3, policy: policy)
      scene.mailbox.store(upTo: seen)
      var successor = scene.mailbox.handOver(policy: policy, published: 3)
      successor?.end(at: 3, as: .cancelled)
      #expect(scene.lifetimes.alive == 0)
      #expect(scene.mailbox.account(published: 3).addressed == 0)
    }
  }
}

/// A mailbox for which notifications were posted that have receipts, and captures that are counted.
private struct EndScene {
  let lifetimes = Lifetimes()
  private(set) var receipts: [Receipt] = []
  var mailbox: Mailbox

  init(posts: Int, policy: DelegateHub.MailboxPolicy) {
    let topic = Topic(Nobody.self)
    var topicIndex = TopicIndex()
    mailbox = topicIndex.makeMailbox(policy)
    for _ in 0..<posts {
      let captured = lifetimes.make()
      var content = Structures.content { withExtendedLifetime(captured) {} }
      let receipt = Receipt()
      content.receipt = receipt
      receipts.append(receipt)
      topicIndex.post(content, to: topic, followedBy: Notification())
    }
  }

  /// How often each receipt has been passed: nobody was to pass it.
  var passes: [Int] { receipts.map { -$0.outstanding.value } }

  /// Handles all that waits, and gives the numbers.
  func handleAll(in mailbox: inout Mailbox, published: Int) -> [Int] {
    var numbers: [Int] = []
    var content = mailbox.begin(published: published)
    while let receipt = content?.receipt {
      numbers.append(receipts.firstIndex { $0 === receipt } ?? -1)
      content = nil
      if case .handle(let next) = mailbox.advance(after: .handled, published: published) {
        content = next
      }
    }
    return numbers
  }

  /// Takes that many, of which the last one is still being handled.
  mutating func take(_ count: Int) {
    for number in 0..<count {
      if number == 0 {
        _ = mailbox.begin(published: count)
      } else {
        _ = mailbox.advance(after: .handled, published: count)
      }
    }
  }
}

extension DelegateHub.MailboxPolicy {
  /// What is left of that which waits.
  fileprivate func kept(of numbers: [Int]) -> [Int] {
    guard let limit else { return numbers }
    return Array(dropsOldest ? numbers.suffix(limit) : numbers.prefix(limit))
  }
}
