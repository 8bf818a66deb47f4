@testable import Delegation

/// A poster, the lanes that its posts ask for, and the worker that attends; the subscription ends, or
/// is succeeded by another, at any time.
struct MailboxWorld: SmallWorld {
  enum Step {
    case post
    /// A lane sets out with all that was posted.
    case setOut
    /// A worker of a lane comes by; the subscription may just have ended.
    case visit
    /// The handler has returned; the worker looks up what was posted before or after the
    /// subscription's end.
    case finish(Mailbox.Fate, beforeEnd: Bool = true)
    /// The attending worker begins, or goes on after a pause, and looks up what was posted likewise.
    case proceed(beforeEnd: Bool = true)
    /// The subscription ends; the mailbox has yet to learn of it.
    case end(Termination)
    case close
    /// Another subscription takes this one's place: no more calls start; what waits has yet to be handed
    /// over.
    case forbid
    case handOver
    /// The worker that attends the mailbox that was succeeded returns from its handler or its pause.
    case leaveOld(Mailbox.Fate)
  }

  /// How many notifications can be posted.
  private static let most = 5
  /// What has just been handled or released, by all histories in turn.
  private let drawer = Drawer()
  private var mailbox: Mailbox
  private let policy: DelegateHub.MailboxPolicy
  private var old: Mailbox?
  private var published = 0
  private var isPending = false
  private var lanes = 0
  private var end: (number: Int, reason: Termination)?
  private var isClosed = false
  private var isForbidden = false

  // The model: numbers of notifications.
  private var chained: [Int] = []
  private var stored: [Int] = []
  private var handling: Int?
  private var oldHandling: Int?
  /// Whether a worker attends that has not begun, or pauses.
  private var isPausing = false
  private var oldIsPausing = false
  /// Whether a worker has come by since the attending one began or resumed.
  private var isRecheckDue = false
  /// How many more the attending worker may take.
  private var allowance = 0
  private var handled: [Int] = []
  private var failed: [Int] = []
  private var dropped: [Int] = []
  private var released: [Int] = []
  private var lost: [Int] = []
  /// How many the one that was succeeded had taken and not handled.
  private var cancelled = 0
  private var taken: [Int] = []

  init(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    // One chain for all histories: each sees as much of it as it has posted.
    mailbox = Mailbox(
      at: Structures.chain(of: Self.most, handling: drawer.put), number: 0, policy: policy)
  }

  private var isAttended: Bool { handling != nil || isPausing }
  private var oldIsAttended: Bool { oldHandling != nil || oldIsPausing }
  /// How many notifications are addressed to this subscription or those it has succeeded.
  private var addressed: Int { end?.number ?? published }

  var steps: [Step] {
    var steps: [Step] = []
    if published < Self.most { steps.append(.post) }
    if isPending { steps.append(.setOut) }
    if lanes > 0 { steps.append(.visit) }
    if handling != nil {
      steps += [.finish(.handled), .finish(end == nil ? .failed : .skipped)]
      if end != nil || isForbidden { steps.append(.finish(.skipped, beforeEnd: false)) }
    }
    if isPausing {
      steps.append(.proceed())
      if end != nil || isForbidden { steps.append(.proceed(beforeEnd: false)) }
    }
    if isForbidden {
      steps.append(.handOver)
    } else if end == nil {
      if published > 0 { steps += [.end(.cancelled), .end(.expired)] }
      if old == nil, published > 0 { steps.append(.forbid) }
    } else if !isClosed {
      steps.append(.close)
    }
    if oldIsAttended { steps.append(.leaveOld(.handled)) }
    if oldHandling != nil { steps.append(.leaveOld(.skipped)) }
    return steps
  }

  mutating func take(_ step: Step) -> String? {
    let fault =
      switch step {
      case .post: post()
      case .setOut: setOut()
      case .visit: visit()
      case .finish(let fate, let beforeEnd): finish(fate, beforeEnd)
      case .proceed(let beforeEnd): proceed(beforeEnd)
      case .end(let reason): end(reason)
      case .close: close()
      case .forbid: forbid()
      case .handOver: handOver()
      case .leaveOld(let fate): leaveOld(fate)
      }
    return fault ?? checkOverflow() ?? checkAccount() ?? checkAttendance()
  }

  // MARK: Steps

  private mutating func post() -> String? {
    if end == nil {
      chained.append(published)
      isPending = true
    }
    published += 1
    return nil
  }

  private mutating func setOut() -> String? {
    (isPending, lanes) = (false, lanes + 1)
    return nil
  }

  private mutating func visit() -> String? {
    lanes -= 1
    let attends = mailbox.attend(published: addressed)
    if !isClosed { store() }
    if isAttended {
      isRecheckDue = true
      return attends ? "a second worker attends" : nil
    }
    isPausing = attends
    return attends == !waiting.isEmpty ? nil : "attends: \(attends), though \(waiting) wait"
  }

  private mutating func finish(_ fate: Mailbox.Fate, _ beforeEnd: Bool) -> String? {
    switch fate {
    case .handled: handled.append(handling!)
    case .failed: failed.append(handling!)
    case .passedOver, .skipped: lost.append(handling!)
    }
    handling = nil
    return follow(mailbox.advance(after: fate, published: beforeEnd ? addressed : nil), beforeEnd)
  }

  private mutating func proceed(_ beforeEnd: Bool) -> String? {
    isPausing = false
    isRecheckDue = false
    let step = mailbox.proceed(published: beforeEnd ? addressed : nil)
    if !isClosed, beforeEnd { store() }
    allowance = waiting.count
    return follow(step, beforeEnd)
  }

  private mutating func follow(_ step: Mailbox.Step, _ beforeEnd: Bool) -> String? {
    switch step {
    case .handle(let content):
      // A successor is to have it.
      return beforeEnd ? took(content) : "took one after calls had been forbidden"
    case .elsewhere:
      return "goes elsewhere"
    case .more:
      // Another lane is requested.
      isPending = true
      if isClosed { return "more after the end" }
      defer { isRecheckDue = false }
      return isRecheckDue ? nil : "more without the flag"
    case .done:
      isRecheckDue = false
      return nil
    }
  }

  private mutating func took(_ content: Notification.Content) -> String? {
    if isClosed { return "handed out after the end" }
    _ = try? content.run()
    guard let number = drawer.empty().first else { return "ran nothing" }
    handling = number
    allowance -= 1
    if allowance < 0 { return "took more than it came for" }
    if let last = taken.last, last >= number { return "took \(number) after \(taken)" }
    taken.append(number)
    if stored.first == number {
      stored.removeFirst()
    } else if stored.isEmpty, chained.first == number {
      chained.removeFirst()
    } else {
      return "took \(number), but \(waiting) wait"
    }
    return nil
  }

  private mutating func end(_ reason: Termination) -> String? {
    end = (published, reason)
    return nil
  }

  private mutating func close() -> String? {
    mailbox.end(at: end!.number, as: end!.reason)
    isClosed = true
    lost += waiting
    (stored, chained) = ([], [])
    return nil
  }

  private mutating func forbid() -> String? {
    isForbidden = true
    return nil
  }

  private mutating func handOver() -> String? {
    isForbidden = false
    // What was taken and skipped meanwhile is no longer anybody's.
    cancelled += lost.count
    lost = []
    guard let successor = mailbox.handOver(policy: policy, published: published) else {
      return "no successor"
    }
    old = mailbox
    mailbox = successor
    (oldHandling, handling) = (handling, nil)
    (oldIsPausing, isPausing) = (isPausing, false)
    isRecheckDue = false
    // Whoever hands over sees to it that what waits is fetched.
    if !waiting.isEmpty { isPending = true }
    return old?.attend(published: published) == false ? nil : "a successor's are handed out"
  }

  private mutating func leaveOld(_ fate: Mailbox.Fate) -> String? {
    let visible = addressed
    let step: Mailbox.Step?
    if let number = oldHandling {
      if case .handled = fate { handled.append(number) } else { cancelled += 1 }
      step = old?.advance(after: fate, published: visible)
    } else {
      step = old?.proceed(published: visible)
    }
    oldHandling = nil
    oldIsPausing = false
    if case .done = step { return nil }
    return "the one that was succeeded is not done"
  }

  // MARK: The model

  private var waiting: [Int] { stored + chained }

  /// Moves what was posted into the mailbox, or drops it.
  private mutating func store() {
    guard let limit = policy.limit else { return }
    for number in chained {
      stored.append(number)
      if stored.count > limit {
        dropped.append(policy.dropsOldest ? stored.removeFirst() : stored.removeLast())
      }
    }
    chained = []
  }

  private mutating func checkOverflow() -> String? {
    for content in mailbox.takeOverflow() { _ = try? content.run() }
    let overflow = drawer.empty()
    defer { released += overflow }
    return released + overflow == dropped ? nil : "released \(overflow), dropped \(dropped)"
  }

  private func checkAccount() -> String? {
    var account = mailbox.account(published: addressed)
    if let old { account += old.account(published: published) }
    var expected = Account()
    expected.handled = handled.count
    expected.failed = failed.count
    expected.dropped = dropped.count
    expected.waiting = waiting.count
    expected.handling = [handling, oldHandling].count { $0 != nil }
    switch (isClosed, end?.reason) {
    case (true, .expired): expected.expired = lost.count
    case (true, _): expected.cancelled = lost.count
    // One that was skipped counts as waiting until the mailbox knows how its subscription ended.
    case (false, _): expected.waiting += lost.count
    }
    expected.cancelled += cancelled
    if account.addressed != addressed { return "\(account) does not add up to \(addressed)" }
    return account == expected ? nil : "\(account), expected \(expected)"
  }

  private func checkAttendance() -> String? {
    if mailbox.isHandling != (handling != nil) { return "handling: \(mailbox.isHandling)" }
    if mailbox.isFinal != (isClosed && !isAttended) { return "final: \(mailbox.isFinal)" }
    if let old, old.isFinal == oldIsAttended { return "the old one is final: \(old.isFinal)" }
    if end == nil, !isForbidden, !isAttended, !isPending, lanes == 0, !waiting.isEmpty {
      return "\(waiting) are stranded"
    }
    return nil
  }

  /// What is on its way, if anything.
  private var nextArrival: Step? {
    if isForbidden { return .handOver }
    if handling != nil { return .finish(end == nil ? .handled : .skipped) }
    if isPausing { return .proceed() }
    if isPending { return .setOut }
    return lanes > 0 ? .visit : nil
  }

  /// Lets everything on its way arrive: then nothing waits.
  func fault() -> String? {
    var world = self
    for _ in 0..<100 {
      guard let step = world.nextArrival else {
        if world.end == nil, !world.waiting.isEmpty { return "\(world.waiting) never handled" }
        return nil
      }
      if let fault = world.take(step) { return "\(fault), after \(step) in coming to rest" }
    }
    return "never comes to rest"
  }
}
