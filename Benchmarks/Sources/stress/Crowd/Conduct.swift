import Delegation
import Synchronization

/// What a subscriber is like.
enum Temper: CaseIterable, Sendable {
  /// Does next to nothing, lets others go first, sleeps on the job, throws now and then.
  case prompt, yielding, sleeping, failing
  /// Calls the hub from its handlers.
  case meddling
  /// Ends its own subscription some day.
  case fickle
}

/// What was posted, and how handlers have ended.
final class Account: Sendable {
  let (posted, handled, failed) = (Counter(), Counter(), Counter())
}

/// What a subscriber does when it is called, be it an object or an actor.
struct Conduct: Sendable {
  let world: World
  let temper: Temper
  /// Sees whether the hub keeps its promises to it.
  let watch: Watch
  private let account: Account

  init(_ world: World, _ temper: Temper, _ account: Account) {
    (self.world, self.temper, self.account, watch) = (world, temper, account, Watch(world))
  }

  /// Handles an event at once.
  func saw(_ event: Event) throws {
    var dice = begin(event)
    var throwing = false
    switch world.isCalm ? .prompt : temper {
    case .failing: throwing = dice.hits(4)
    case .meddling: meddle(event, &dice)
    case .fickle: leave(&dice)
    case .prompt, .yielding, .sleeping: break
    }
    try end(throwing: throwing)
  }

  /// Handles an event and takes its time.
  nonisolated(nonsending) func heard(_ event: Event) async throws {
    var dice = begin(event)
    var throwing = false
    switch world.isCalm ? .prompt : temper {
    case .prompt: break
    case .yielding: await Task.yield()
    case .sleeping: try? await Task.sleep(for: .microseconds(dice.roll(1000)))
    case .failing:
      await Task.yield()
      throwing = dice.hits(4)
    case .meddling: await meddleAtLeisure(event, &dice)
    case .fickle: leave(&dice)
    }
    try end(throwing: throwing)
  }

  /// Notes that a handler begins, and says what it draws its behaviour from.
  private func begin(_ event: Event) -> Dice {
    watch.begin(event)
    return Dice(seed: event.id ^ (UInt64(watch.number) &* 0xD6E8_FEB8_6659_FD93))
  }

  private func end(throwing: Bool) throws {
    watch.end(throwing: throwing)
    (throwing ? account.failed : account.handled).add()
    if throwing { throw Refusal() }
  }

  private func leave(_ dice: inout Dice) {
    guard dice.hits(64), let subscription = watch.subscription.withLock(\.self) else { return }
    subscription.cancel()
    watch.bar(after: .itself, allowing: 0)
  }

  /// Calls the hub from a handler, now and then.
  private func meddle(_ event: Event, _ dice: inout Dice) {
    // Handlers of what a handler has posted post nothing, or there would be no end.
    guard event.note != nil else { return }
    let delegates = world.hub[(any Listener).self]
    switch dice.roll(96) {
    case 0:
      account.posted.add()
      let event = Event(id: dice.next(), note: nil)
      delegates.notify { try await $0.heard(event) }
    case 1:
      // Dies as it comes: the subscription ends, or becomes another's that is born at its address.
      delegates.registry.subscribe(Member(Conduct(world, .prompt, account)))
      world.tally.count(.death)
    case 2: _ = delegates.isEmpty
    default: break
    }
  }

  /// Calls the hub from an asynchronous handler, now and then.
  private nonisolated(nonsending) func meddleAtLeisure(_ event: Event, _ dice: inout Dice) async {
    guard event.note != nil else { return }
    let delegates = world.hub[(any Listener).self]
    switch dice.roll(128) {
    case 0:
      // Its own subscription comes last in what it waits for: that wait is excused.
      account.posted.add()
      let event = Event(id: dice.next(), note: nil)
      await delegates.notifyAndWait { try $0.saw(event) }
    case 1:
      let isThere = await delegates.vote(by: .anyone) { _ in true }
      world.violations.check(isThere, "a vote held in a handler came out wrong")
    case 2: _ = await world.hub.drain(within: .zero)
    default: meddle(event, &dice)
    }
  }
}
