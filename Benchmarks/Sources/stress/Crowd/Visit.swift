import Delegation
import Synchronization

/// A visitor's stay.
struct Visit: Sendable {
  let subscriber: any Listener
  let id: String
  let hold: DelegateHub.Hold
  let subscription: DelegateHub.Subscription
  private let crowd: Crowd

  /// Brings a new visitor, with the id of another one if it is to take that one's place.
  init(to crowd: Crowd, id givenID: String? = nil, _ dice: inout Dice) {
    let world = crowd.world
    let temper = Temper.allCases.randomElement(using: &dice) ?? .prompt
    let conduct = Conduct(world, temper, crowd.account)
    subscriber =
      switch dice.roll(3) {
      case 0: Official(conduct)
      case 1: EagerMember(conduct)
      default: Member(conduct)
      }
    id = givenID ?? "visitor \(conduct.watch.number)"
    hold = dice.hits(8) ? .strongly : .weakly
    self.crowd = crowd
    let priority = dice.hits(2) ? dice.roll(5) - 2 : nil
    let mailbox = Self.mailbox(for: temper, &dice)
    let isOnQueue = dice.hits(8)
    subscription = crowd.delegates.registry.subscribe(
      subscriber, priority: priority, id: id, hold: hold, mailbox: mailbox,
      on: isOnQueue ? world.queue : nil)
    conduct.watch.subscription.withLock { $0 = subscription }
    world.tally.count(.visitor)
    world.tally.count(hold == .strongly ? .strong : .weak)
    if subscriber is Official { world.tally.count(.actor) }
    if isOnQueue { world.tally.count(.executor) }
    if priority != nil { world.tally.count(.prioritized) }
    if mailbox != .unbounded { world.tally.count(.limited) }
  }

  /// Subscribes it once more, with other options.
  func changeOptions(_ dice: inout Dice) {
    // Of one that ends its subscription itself this could begin a new one, beside its last handler.
    guard subscriber.conduct.temper != .fickle else { return }
    crowd.delegates.registry.subscribe(
      subscriber, priority: dice.roll(5) - 2, id: id, hold: hold,
      mailbox: Self.mailbox(for: subscriber.conduct.temper, &dice))
  }

  func cancel() {
    subscription.cancel()
    subscriber.conduct.watch.bar(after: .cancel)
  }

  /// Sends it away, in one of the ways there are; returns the one that has taken its place, if any.
  func leave(_ dice: inout Dice) async -> Visit? {
    let (world, watch) = (crowd.world, subscriber.conduct.watch)
    // One that the hub keeps alive does not die of being let go of.
    switch dice.roll(hold == .strongly ? 7 : 9) {
    case 0: cancel()
    case 1, 4:
      let duration: Duration? = dice.hits(2) ? .milliseconds(50) : nil
      let left = await subscription.cancelAndWait(within: duration)
      if left.isEmpty { watch.bar(after: .cancelAndWait, allowing: 0) }
      world.violations.check(left.isEmpty || duration != nil, "cancelAndWait left somebody")
    case 2:
      world.hub.unsubscribe(subscriber)
      watch.bar(after: .unsubscribe)
    case 3:
      crowd.delegates.registry.unsubscribe(id: id)
      watch.bar(after: .unsubscribeID)
    case 5:
      subscription.finish()
      world.tally.count(.finish)
    case 6:
      let heir = Visit(to: crowd, id: id, &dice)
      watch.bar(after: .takeOver)
      return heir
    default:
      world.tally.count(.death)
    }
    return nil
  }

  /// One that sleeps must not be overrun.
  private static func mailbox(for temper: Temper, _ dice: inout Dice) -> DelegateHub.MailboxPolicy {
    if temper != .sleeping, dice.hits(2) { return .unbounded }
    return dice.hits(2) ? .latest : .dropOldest(limit: 16)
  }
}
