@testable import Delegation

/// A mailbox whose policy changes while it is posted to and worked on, beside a list of what waits.
struct MailboxOptionsWorld: SmallWorld {
  enum Step {
    case post
    /// A worker comes by, and begins if there is something to do.
    case visit
    /// The handler has returned.
    case finish
    case change(DelegateHub.MailboxPolicy)
    case close
  }

  private static let policies: [DelegateHub.MailboxPolicy] = [
    .unbounded, .dropOldest(limit: 2), .dropNewest(limit: 1), .latest,
  ]
  private static let most = 6

  private let drawer = Drawer()
  private var mailbox: Mailbox
  private var published = 0

  // The model: numbers of notifications.
  private var policy: DelegateHub.MailboxPolicy
  private var waiting: [Int] = []
  private var handling: Int?
  private var handled = 0
  private var dropped: Set<Int> = []
  private var released: Set<Int> = []
  private var cancelled = 0
  private var end: Int?
  private var isCalledFor = false
  private var allowance = 0

  init(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    mailbox = Mailbox(
      at: Structures.chain(of: Self.most, handling: drawer.put), number: 0, policy: policy)
  }

  var steps: [Step] {
    var steps: [Step] = [.visit]
    if published < Self.most { steps.append(.post) }
    if handling != nil { steps.append(.finish) }
    if end == nil {
      steps += Self.policies.filter { $0 != policy }.map(Step.change)
      steps.append(.close)
    }
    return steps
  }

  mutating func take(_ step: Step) -> String? {
    let fault: String?
    switch step {
    case .post:
      if end == nil { waiting.append(published) }
      published += 1
      fault = nil
    case .visit: fault = visit()
    case .finish: fault = finish()
    case .change(let policy):
      self.policy = policy
      trim()
      mailbox.setPolicy(policy)
      mailbox.store(upTo: visible)
      fault = nil
    case .close:
      end = published
      mailbox.end(at: published, as: .cancelled)
      cancelled = waiting.count
      waiting = []
      fault = nil
    }
    return fault ?? check()
  }

  /// How many notifications whoever works on the mailbox may see.
  private var visible: Int { end ?? published }

  /// Drops what is too much: whenever somebody looks, and not before.
  private mutating func trim() {
    guard let limit = policy.limit, waiting.count > limit else { return }
    let kept = policy.dropsOldest ? waiting.suffix(limit) : waiting.prefix(limit)
    dropped.formUnion(waiting.filter { !kept.contains($0) })
    waiting = Array(kept)
  }

  private mutating func visit() -> String? {
    trim()
    let attends = mailbox.attend(published: visible)
    if handling != nil {
      isCalledFor = true
      return attends ? "a second worker attends" : nil
    }
    if attends != !waiting.isEmpty { return "attends: \(attends), though \(waiting) wait" }
    return attends ? proceed() : nil
  }

  private mutating func proceed() -> String? {
    trim()
    isCalledFor = false
    allowance = waiting.count
    return follow(mailbox.proceed(published: visible))
  }

  private mutating func finish() -> String? {
    handled += 1
    handling = nil
    return follow(mailbox.advance(after: .handled, published: visible))
  }

  private mutating func follow(_ step: Mailbox.Step) -> String? {
    switch step {
    case .handle(let content):
      _ = try? content.run()
      let numbers = drawer.empty()
      if waiting.isEmpty || allowance == 0 || numbers != [waiting[0]] {
        return "took \(numbers) of \(waiting), of which it might take \(allowance)"
      }
      handling = waiting.removeFirst()
      allowance -= 1
      return nil
    case .more:
      defer { isCalledFor = false }
      return waiting.isEmpty || !isCalledFor ? "more without a reason" : nil
    case .elsewhere:
      return "goes elsewhere"
    case .done:
      let isDone = waiting.isEmpty || allowance == 0 && !isCalledFor
      isCalledFor = false
      return isDone ? nil : "rests, though \(waiting) wait"
    }
  }

  private mutating func check() -> String? {
    for content in mailbox.takeOverflow() { _ = try? content.run() }
    released.formUnion(drawer.empty())
    if released != dropped { return "released \(released), dropped \(dropped)" }
    let expected = Account(
      handled: handled, dropped: dropped.count, cancelled: cancelled,
      waiting: waiting.count, handling: handling == nil ? 0 : 1)
    let account = mailbox.account(published: published)
    if account != expected { return "\(account), expected \(expected)" }
    let owed = (0..<published).filter { mailbox.hasPending($0) }
    let outstanding = (handling.map { [$0] } ?? []) + waiting
    return owed == outstanding ? nil : "owes \(owed), expected \(outstanding)"
  }
}
