import Testing

@testable import Delegation

@Suite("Mailbox: a subscriber's place in the chain of notifications", .inTurn(.heavy))
struct MailboxTests {
  @Test(
    "after every history it holds, hands out, drops and owes what a list would",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .latest, .dropOldest(limit: 2)])
  func agreesWithList(policy: DelegateHub.MailboxPolicy) {
    #expect(MailboxWorld(policy).explore(upTo: 7) == nil)
  }
}

/// A mailbox, the deliveries that its posts ask for, and the worker that attends, beside lists of numbers.
///
/// The subscription ends, is finished or replaced at any time.
private struct MailboxWorld: SmallWorld {
  enum Step {
    case post
    /// A worker comes by.
    case visit
    /// The handler has returned; the worker looks up what was posted, or finds the subscription closed.
    case advance(Notification.Fate)
    case close(Termination)
    /// What is posted from now on is not handled.
    case finish
    case takeOver
    /// The handler of the one whose place was taken has returned.
    case advanceOld
  }

  private static let most = 5

  private let taken = Drawer()
  private var mailbox: Mailbox
  private var published = 0

  // The model.
  private let policy: DelegateHub.MailboxPolicy
  private var limit: Int { policy.limit ?? .max }
  private var waiting: [Int] = []
  /// What was posted after the end of those that it handles.
  private var late: [Int] = []
  private var handling: Int?
  /// How many more the worker may take.
  private var allowance = 0
  private var isReliedOn = false
  /// A delivery is due that will come by.
  private var isDue = false
  private var account = Account()
  private var isFinished = false
  private var isClosed = false
  /// The former one's worker has to leave before one may begin.
  private var isFollowing = false
  /// The one whose place this one has taken.
  private var old: (mailbox: Mailbox, account: Account, isHandling: Bool)?

  init(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    mailbox = Mailbox(
      at: Structures.chain(of: Self.most, handling: taken.put), number: 0, policy: policy)
  }

  var steps: [Step] {
    var steps: [Step] = [.visit]
    if published < Self.most { steps.append(.post) }
    if handling != nil { steps.append(.advance(isClosed ? .expired : .handled)) }
    if old?.isHandling == true { steps.append(.advanceOld) }
    if isClosed { return steps }
    if handling != nil { steps.append(.advance(.failed)) }
    if published > 0 { steps += [.close(.cancelled), .close(.expired)] }
    if published > 0, !isFinished { steps.append(.finish) }
    if published > 0, old == nil { steps.append(.takeOver) }
    return steps
  }

  mutating func take(_ step: Step) -> String? {
    var fault: String?
    switch step {
    case .post: post()
    case .visit: fault = visit()
    case .advance(let fate): fault = advance(fate)
    case .close(let termination): fault = close(termination)
    case .finish:
      isFinished = true
      mailbox.finish(at: published)
    case .takeOver: fault = takeOver()
    case .advanceOld:
      let step = old?.mailbox.advance(after: .handled, published: nil)
      if case .handle = step { fault = "one whose place was taken goes on" }
      if old?.mailbox.flags.remove(.followed) == nil { fault = "nobody knows that it is followed" }
      mailbox.flags.remove(.following)
      (isFollowing, isDue) = (false, true)
      old?.isHandling = false
      old?.account.handled += 1
    }
    return fault ?? check()
  }

  private mutating func post() {
    if isFinished, !isClosed {
      late.append(published)
    } else if !isClosed {
      waiting.append(published)
      isDue = true
    }
    published += 1
  }

  /// Up to where a worker sees what was posted.
  private var visible: Int? { isClosed ? nil : min(published, mailbox.end) }

  /// What a worker does whenever it looks.
  private mutating func drop() -> String? {
    let excess = isClosed ? 0 : max(0, waiting.count - limit)
    account.dropped += excess
    waiting.removeFirst(excess)
    let count = mailbox.dropOldest(published: visible)?.count ?? 0
    return count == excess ? nil : "dropped \(count), expected \(excess)"
  }

  private mutating func visit() -> String? {
    isDue = false
    if let fault = drop() { return fault }
    let attends = mailbox.attend(published: visible)
    if handling != nil {
      if !isClosed { isReliedOn = true }
      return attends ? "a second worker attends" : nil
    }
    if isFollowing { return attends ? "it attends before the former one's worker has left" : nil }
    if attends == waiting.isEmpty { return "attends: \(attends), though \(waiting) wait" }
    guard attends else { return nil }
    isReliedOn = false
    allowance = waiting.count
    return follow(mailbox.proceed(published: visible))
  }

  private mutating func advance(_ fate: Notification.Fate) -> String? {
    switch fate {
    case .handled: account.handled += 1
    case .failed: account.failed += 1
    default: lose(1)
    }
    handling = nil
    return follow(mailbox.advance(after: fate, published: visible))
  }

  private mutating func lose(_ count: Int) {
    if mailbox.termination == .expired {
      account.expired += count
    } else {
      account.cancelled += count
    }
  }

  private mutating func follow(_ step: Mailbox.Step) -> String? {
    if case .handle(let content) = step {
      content.run()
      let numbers = taken.empty()
      if isClosed || allowance == 0 || numbers != waiting.first.map({ [$0] }) {
        return "took \(numbers) of \(waiting), of which it might take \(allowance)"
      }
      handling = waiting.removeFirst()
      allowance -= 1
      return nil
    }
    let mustGoOn = !waiting.isEmpty && isReliedOn
    switch step {
    case .more:
      // A further worker is requested.
      isDue = true
      return mustGoOn ? nil : "more without a reason"
    case .over: return isFinished && waiting.isEmpty ? nil : "over, though \(waiting) wait"
    case .done where isFinished && !isClosed && waiting.isEmpty: return "it is not over"
    case .done: return mustGoOn ? "it rests, though \(waiting) wait" : nil
    default: return "\(step)"
    }
  }

  private mutating func close(_ termination: Termination) -> String? {
    let remains = mailbox.terminate(at: published, as: termination)
    isClosed = true
    let count = waiting.count + late.count
    lose(count)
    (waiting, late) = ([], [])
    return remains?.count == count ? nil : "\(remains?.count ?? 0) remain, expected \(count)"
  }

  private mutating func takeOver() -> String? {
    var successor = Mailbox(at: Notification(), number: published, policy: policy)
    successor.takeOver(from: &mailbox)
    isFollowing = handling != nil
    old = (mailbox, account, isFollowing)
    (mailbox, account, handling) = (successor, Account(), nil)
    (isReliedOn, isDue, isFinished) = (false, true, false)
    waiting += late
    late = []
    return nil
  }

  private func check() -> String? {
    var expected = account
    expected.waiting = waiting.count + late.count
    expected.handling = handling == nil ? 0 : 1
    let found = mailbox.account(published: published)
    if found != expected { return "\(found), expected \(expected)" }
    let owed = (0..<published).filter { mailbox.hasPending($0) }
    let outstanding = (handling.map { [$0] } ?? []) + waiting + late
    if owed != outstanding { return "owes \(owed), expected \(outstanding)" }
    if let old {
      var expected = old.account
      expected.handling = old.isHandling ? 1 : 0
      let found = old.mailbox.account(published: published)
      if found != expected { return "\(found) of the former one, expected \(expected)" }
    }
    let isServed = handling != nil || isDue || isFollowing || isClosed || waiting.isEmpty
    return isServed ? nil : "\(waiting) are stranded"
  }
}

/// Takes the numbers of notifications until it is emptied.
private final class Drawer: Sendable {
  private let numbers = Lock<[Int]>([])

  func put(_ number: Int) { numbers.withLock { $0.append(number) } }

  func empty() -> [Int] {
    numbers.withLock { numbers in
      defer { numbers = [] }
      return numbers
    }
  }
}
