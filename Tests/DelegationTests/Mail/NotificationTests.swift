import Testing

@testable import Delegation

@Suite("Notification: a chain shared by all who are to handle it", .inTurn(.heavy))
struct NotificationTests {
  @Test("a chain of a million is released without exhausting the stack")
  func longChain() throws {
    var first: Notification? = Structures.chain(of: 1_000_000)
    let ends = try [Weak(first!), Weak(#require(first?.next)), Weak(last(from: first!))]
    #expect(ends.map(\.isAlive) == [true, true, true])
    first = nil
    #expect(ends.map(\.isAlive) == [false, false, false])
  }

  @Test("a chain that is released stops at what somebody else still has")
  func heldInTheMiddle() throws {
    var first: Notification? = Structures.chain(of: 9)
    var middle = first
    for _ in 0..<4 { middle = middle?.next }
    let before = try Weak(#require(first?.next))
    let end = Weak(last(from: first!))
    first = nil
    #expect(!before.isAlive)
    #expect(end.isAlive)
    #expect(middle.map(length) == 5)
  }

  @Test("a placeholder that nothing follows is empty")
  func placeholder() {
    let placeholder = Notification()
    #expect(placeholder.content == nil)
    #expect(placeholder.next == nil)
  }

  @Test("what a notification captured is released when the last mailbox has passed it")
  func captures() {
    var probes: [Weak<Captive>] = []
    let topic = Topic(Nobody.self)
    var (topicIndex, end) = (TopicIndex(), 0)
    var one = topicIndex.makeMailbox(.unbounded)
    var other = topicIndex.makeMailbox(.unbounded)
    for _ in 0..<4 {
      let probe = Captive()
      probes.append(Weak(probe))
      topicIndex.post(
        Structures.content { withExtendedLifetime(probe) {} }, to: topic,
        followedBy: Notification())
      end += 1
    }
    pass(3, of: end, in: &one)
    #expect(probes.map(\.isAlive) == [true, true, true, true])
    pass(2, of: end, in: &other)
    #expect(probes.map(\.isAlive) == [false, false, true, true])
    pass(1, of: end, in: &other)
    #expect(probes.map(\.isAlive) == [false, false, false, true])
    one.end(at: end, as: .cancelled)
    #expect(probes.map(\.isAlive) == [false, false, false, true])
    other.end(at: end, as: .expired)
    #expect(probes.map(\.isAlive) == [false, false, false, false])
  }

  @Test("what is posted when nobody has a mailbox is released with what posting returns")
  func nobody() {
    let topic = Topic(Nobody.self)
    var topicIndex = TopicIndex()
    var captured: Captive? = Captive()
    let probe = Weak(captured!)
    var posted: [Notification] = [
      topicIndex.post(
        Structures.content { [captured] in withExtendedLifetime(captured) {} }, to: topic,
        followedBy: Notification())
    ]
    captured = nil
    #expect(probe.isAlive)
    posted.removeAll()
    #expect(!probe.isAlive)
  }

  @Test("what is pending in a mailbox is released with it")
  func mailboxLetGo() throws {
    var chain: Notification? = Structures.chain(of: 100_000)
    let second = try Weak(#require(chain?.next))
    var mailboxes = [Mailbox(at: chain!, number: 0)]
    chain = nil
    #expect(second.isAlive)
    mailboxes.removeAll()
    #expect(!second.isAlive)
  }

  @Test("a mailbox that has been succeeded keeps nothing of what it had stored")
  func succeeded() {
    let topic = Topic(Nobody.self)
    var topicIndex = TopicIndex()
    var mailbox = topicIndex.makeMailbox(.dropOldest(limit: 4))
    var captured: Captive? = Captive()
    let probe = Weak(captured!)
    topicIndex.post(
      Structures.content { [captured] in withExtendedLifetime(captured) {} }, to: topic,
      followedBy: Notification())
    captured = nil
    mailbox.store(upTo: 1)
    var successor = mailbox.handOver(policy: .latest, published: 1)
    #expect(probe.isAlive)
    successor?.end(at: 1, as: .cancelled)
    #expect(!probe.isAlive)
    #expect(mailbox.account(published: 1).addressed == 0)
  }

  // MARK: Doing it

  /// Handles that many notifications one after another, each in a visit of its own.
  private func pass(_ count: Int, of published: Int, in mailbox: inout Mailbox) {
    let first = published - mailbox.account(published: published).waiting
    for number in first..<(first + count) {
      guard mailbox.begin(published: number + 1) != nil else {
        Issue.record("nothing to handle at \(number)")
        return
      }
      guard case .done = mailbox.advance(after: .handled, published: number + 1) else {
        Issue.record("not done after \(number)")
        return
      }
    }
  }

  private func last(from first: Notification) -> Notification {
    var last = first
    while let next = last.next { last = next }
    return last
  }

  /// How many notifications there are, the placeholder not counted.
  private func length(from first: Notification) -> Int {
    var length = 0
    var last = first
    while let next = last.next {
      length += 1
      last = next
    }
    return length
  }
}

private final class Captive: Sendable {}

private struct Weak<Object: AnyObject> {
  private(set) weak var object: Object?

  init(_ object: Object) {
    self.object = object
  }

  var isAlive: Bool { object != nil }
}
