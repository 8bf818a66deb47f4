import Delegation

/// A visitor's stay, of which its owner alone decides.
struct Visit: Sendable {
  /// The visitor.
  let subscriber: any Subscriber
  /// What it was subscribed with.
  let id: String
  /// Whether the hub keeps it alive.
  let hold: DelegateHub.Hold
  /// Its subscriptions.
  let subscriptions: [DelegateHub.Subscription]

  /// Brings a new visitor.
  ///
  /// - Parameters:
  ///   - world: where to.
  ///   - givenID: the id to subscribe with; one of its own if `nil`.
  ///   - dice: what decides of its kind.
  init(to world: World, id givenID: String? = nil, _ dice: inout Dice) {
    let temper = Temper.allCases.randomElement(using: &dice) ?? .prompt
    let conduct = Conduct(world, temper)
    let subscriber: any Subscriber =
      dice.roll(3) == 0 ? Official(conduct) : Member(conduct)
    let id = givenID ?? "visitor \(conduct.watch.number)"
    let hold: DelegateHub.Hold = dice.roll(8) == 0 ? .strongly : .weakly
    let subscription = world.hub.subscribe(
      subscriber, to: (any Listener).self, priority: dice.roll(5) - 2, id: id, hold: hold,
      mailbox: Self.mailbox(for: temper, &dice))
    conduct.watch.subscription = subscription
    var subscriptions = [subscription]
    if dice.roll(3) == 0 {
      subscriptions.append(
        world.hub.subscribe(subscriber, to: (any Gatekeeper).self, id: id, hold: hold))
    }
    self.subscriber = subscriber
    self.id = id
    self.hold = hold
    self.subscriptions = subscriptions
    world.tally.count(.came)
  }

  /// Whether it is still told of events.
  var isListening: Bool { subscriptions[0].isActive }

  /// Subscribes it once more, with other options.
  ///
  /// - Parameters:
  ///   - world: where it is.
  ///   - dice: what decides of the options.
  func changeOptions(in world: World, _ dice: inout Dice) {
    // Of one that ends its subscription itself this could begin a new one, beside its last handler.
    guard subscriber.conduct.temper.isLoyal else { return }
    world.hub.subscribe(
      subscriber, to: (any Listener).self, priority: dice.roll(5) - 2, id: id, hold: hold,
      mailbox: Self.mailbox(for: subscriber.conduct.temper, &dice))
    world.tally.count(.changed)
  }

  /// One that sleeps must not be overrun.
  private static func mailbox(for temper: Temper, _ dice: inout Dice) -> DelegateHub.MailboxPolicy {
    let bounded: [DelegateHub.MailboxPolicy] = [
      .dropOldest(limit: 16), .dropNewest(limit: 16), .latest,
    ]
    if temper != .sleeping, dice.roll(2) == 0 { return .unbounded }
    return bounded[dice.roll(bounded.count)]
  }
}
