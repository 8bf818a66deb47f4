import Delegation
import Foundation

/// Who is told of events.
protocol Listener: AnyObject, Sendable {
  func saw(_ event: Event) throws
  func heard(_ event: Event) async throws
  var conduct: Conduct { get }
}

extension Listener {
  func saw(_ event: Event) throws { try conduct.saw(event) }
  func heard(_ event: Event) async throws { try await conduct.heard(event) }
}

/// Optional beside `Listener`.
protocol Eager: AnyObject, Sendable {
  func saw(_ event: Event) throws
  var conduct: Conduct { get }
}

/// What is posted.
struct Event: Sendable {
  /// What handlers draw their behaviour from.
  let id: UInt64
  /// The one who posted it, and that one's running number; `nil` for a handler.
  let note: Note?
}

/// Notifications in all forms, to subscribers of every kind that come, go, die, are replaced, and call the hub from their
/// handlers, while residents stay whose accounts are known exactly.
final class Crowd: Part {
  static let name = "crowd"

  let world: World
  let residents: [Resident]
  let account = Account()
  /// Notifications for those that conform to a further protocol.
  let narrow = Counter()

  var delegates: Delegates<any Listener> { world.hub[(any Listener).self] }

  init(in world: World) {
    self.world = world
    residents = Resident.settle(in: world, account)
  }

  func run() async {
    let threads = (0..<world.threads).map { index in world.thread { self.act(onThread: index) } }
    await world.act(Self.name) { index, dice in
      var producer = Producer(crowd: self, index: index, dice: dice)
      await producer.run()
    }
    for thread in threads { await thread.value }
  }

  /// Posts, calls and subscribes from a thread of its own.
  private func act(onThread index: Int) {
    var dice = world.dice("thread", index)
    var sequence = 0
    while world.limits.take() {
      sequence += 1
      switch dice.roll(8) {
      case 0:
        world.violations.check(
          delegates.subscribers.count >= residents.count, "a list lacks a resident")
      case 1:
        Visit(to: self, &dice).cancel()
      default:
        let event = Event(
          id: dice.next(), note: Note(poster: world.tasks + index, number: sequence))
        world.tally.count(.notify)
        account.posted.add()
        delegates.notify { try $0.saw(event) }
      }
      // A thread cannot wait for the subscribers.
      if sequence % 16 == 0 { Thread.sleep(forTimeInterval: 0.002) }
    }
  }

  func audit() async {
    await checkCalm(events: 100)
    guard let statistics = delegates.statistics else { return }
    let counts = statistics.counts
    world.violations.check("crowd, posted", hub: statistics.posted, own: account.posted.value)
    world.violations.check("crowd, handled", hub: counts.handled, own: account.handled.value)
    world.violations.check("crowd, failed", hub: counts.failed, own: account.failed.value)
    for resident in residents {
      let watch = resident.subscriber.conduct.watch
      let (handled, failed) = (watch.handled.value, watch.failed.value)
      let counts = resident.subscription.statistics.counts
      let ended = handled + counts.dropped + counts.passedOver
      world.violations.check(
        counts.failed == failed && counts.handled == handled - failed
          && counts.addressed == ended && ended >= account.posted.value - narrow.value
          && ended <= account.posted.value && (resident.isLimited || counts.dropped == 0),
        "resident \(watch.number) has handled \(handled), \(failed) of them failing, of "
          + "\(account.posted.value), \(narrow.value) for some; the hub says \(counts)")
      world.hub.unsubscribe(resident.subscriber)
    }
  }

  var sum: String {
    guard let statistics = delegates.statistics else { return "nothing was posted" }
    let counts = statistics.counts
    return "\(statistics.posted.short) posted, \(statistics.addressed.short) addressed = "
      + "\(counts.handled.short) handled + \(counts.failed.short) failed + "
      + "\(counts.expired.short) died + \(counts.dropped.short) dropped + "
      + "\(counts.cancelled.short) cancelled + \(counts.passedOver.short) passed over"
  }

  /// Posts when everybody is known and nothing else goes on: posted times subscribers, exactly.
  func checkCalm(events: Int) async {
    world.calmDown()
    // Who has died is there until a call finds it.
    _ = await delegates.collect { _ in }
    world.violations.check("crowd, count", hub: delegates.count, own: residents.count)
    for sequence in 0..<events {
      account.posted.add()
      let event = Event(id: UInt64(sequence), note: nil)
      let outcome = await delegates.notifyAndWait { try $0.saw(event) }
      world.violations.check(
        outcome.isHandled && outcome.handled == residents.count && outcome.left.isEmpty,
        "one of some calm events was not handled by all: \(outcome)")
    }
  }
}

/// A subscriber that is there from beginning to end, so that its account can be foretold.
struct Resident: Sendable {
  let subscriber: any Listener
  let subscription: DelegateHub.Subscription
  let isLimited: Bool

  /// Settles them: of every temper that ends no subscription, as objects and actors, with limits, on a queue.
  static func settle(in world: World, _ account: Account) -> [Resident] {
    func make(
      _ temper: Temper, _ mailbox: DelegateHub.MailboxPolicy? = nil, isActor: Bool = false,
      isEager: Bool = false, priority: Int? = nil, hold: DelegateHub.Hold = .weakly,
      on executor: (any TaskExecutor)? = nil
    ) -> Resident {
      let conduct = Conduct(world, temper, account)
      let subscriber: any Listener =
        if isActor { Official(conduct) } else if isEager { EagerMember(conduct) } else {
          Member(conduct)
        }
      let subscription = world.hub.subscribe(
        subscriber, to: (any Listener).self, priority: priority,
        id: "resident \(conduct.watch.number)",
        hold: hold, mailbox: mailbox, on: executor)
      return Resident(
        subscriber: subscriber, subscription: subscription, isLimited: mailbox != nil)
    }
    return [
      make(.prompt), make(.prompt, isEager: true, priority: 10),
      make(.prompt, isActor: true, hold: .strongly), make(.prompt, on: world.queue),
      make(.yielding), make(.yielding, isEager: true, on: world.queue),
      make(.failing), make(.failing, isActor: true),
      make(.meddling), make(.sleeping, .dropOldest(limit: 64)), make(.yielding, .latest),
      make(.sleeping, .latest, isEager: true, priority: -10),
    ]
  }
}

/// A subscriber that is an object.
final class Member: Listener {
  let conduct: Conduct
  init(_ conduct: Conduct) { self.conduct = conduct }
}

/// One that conforms to the further protocol.
final class EagerMember: Listener, Eager {
  let conduct: Conduct
  init(_ conduct: Conduct) { self.conduct = conduct }
}

/// A subscriber that is an actor: what takes its time hops to it.
actor Official: Listener {
  nonisolated let conduct: Conduct
  init(_ conduct: Conduct) { self.conduct = conduct }
  func heard(_ event: Event) async throws { try await conduct.heard(event) }
}
