import Delegation

/// What a subscriber does when it is called, be it an object or an actor.
struct Conduct: Sendable {
  /// The world it lives in.
  let world: World
  /// What it is like.
  let temper: Temper
  /// Sees whether the hub keeps its promises to it.
  let watch: Watch

  /// Makes the conduct of one subscriber.
  ///
  /// - Parameters:
  ///   - world: the world it lives in.
  ///   - temper: what it is like.
  ///   - isResident: whether it stays from beginning to end.
  init(_ world: World, _ temper: Temper, isResident: Bool = false) {
    self.world = world
    self.temper = temper
    watch = Watch(world, temper, isResident: isResident)
  }

  /// Handles an event at once.
  ///
  /// - Parameter event: which one.
  /// - Throws: a ``Refusal`` when in the mood.
  func saw(_ event: Event) throws {
    watch.begin(event)
    var dice = dice(for: event)
    var throwing = false
    if !world.isCalm {
      switch temper {
      case .failing: throwing = dice.roll(4) == 0
      case .meddling: meddle(event, &dice)
      case .fickle: if dice.roll(64) == 0 { watch.subscription?.cancel() }
      case .prompt, .yielding, .sleeping: break
      }
    }
    watch.end(throwing: throwing)
    if throwing { throw Refusal() }
  }

  /// Handles an event and takes its time.
  ///
  /// - Parameter event: which one.
  /// - Throws: a ``Refusal`` when in the mood.
  nonisolated(nonsending) func heard(_ event: Event) async throws {
    watch.begin(event)
    var dice = dice(for: event)
    var throwing = false
    if !world.isCalm {
      switch temper {
      case .prompt: break
      case .yielding: await Task.yield()
      case .sleeping: try? await Task.sleep(for: .microseconds(dice.roll(1000)))
      case .failing:
        await Task.yield()
        throwing = dice.roll(4) == 0
      case .meddling: await meddleAtLeisure(event, &dice)
      case .fickle: if dice.roll(64) == 0 { watch.subscription?.cancel() }
      }
    }
    watch.end(throwing: throwing)
    if throwing { throw Refusal() }
  }

  /// Answers whether an event is allowed.
  ///
  /// - Parameter event: which one.
  /// - Returns: whether it is not forbidden.
  /// - Throws: a ``Refusal`` when in the mood.
  nonisolated(nonsending) func allows(_ event: Event) async throws -> Bool {
    var dice = dice(for: event)
    switch temper {
    case .prompt, .meddling, .fickle: break
    case .yielding: await Task.yield()
    // Cut short if the vote is decided: nobody hears the answer then.
    case .sleeping: try? await Task.sleep(for: .microseconds(dice.roll(1000)))
    case .failing: if dice.roll(4) == 0 { throw Refusal() }
    }
    return !event.isForbidden
  }

  private func dice(for event: Event) -> Dice {
    Dice(seed: event.id ^ (UInt64(watch.number) &* 0xD6E8_FEB8_6659_FD93))
  }

  /// Calls the hub from a synchronous handler, now and then.
  private func meddle(_ event: Event, _ dice: inout Dice) {
    // Handlers of what a handler has posted post nothing, or there would be no end.
    guard event.producer != nil else { return }
    switch dice.roll(64) {
    case 0:
      world.tally.count(.postedByHandlers)
      let event = followUp(&dice)
      world.hub.notify((any Listener).self) { try $0.saw(event) }
    case 1:
      // Dies as it comes: the subscription ends, or becomes another's that is born at its address.
      world.hub.subscribe(Member(Conduct(world, .prompt)), to: (any Listener).self)
      world.tally.count(.came)
      world.tally.count(.died)
    default: break
    }
  }

  /// Calls the hub from an asynchronous handler, now and then.
  private nonisolated(nonsending) func meddleAtLeisure(_ event: Event, _ dice: inout Dice) async {
    guard event.producer != nil else { return }
    switch dice.roll(128) {
    case 0, 1:
      world.tally.count(.postedByHandlers)
      let event = followUp(&dice)
      world.hub.notify((any Listener).self) { try await $0.heard(event) }
    case 2:
      world.tally.count(.postedByHandlers)
      let event = followUp(&dice)
      await world.hub.notifyAndWait((any Listener).self) { try $0.saw(event) }
    case 3:
      world.tally.count(.voted)
      let isAllowed = await world.hub.vote((any Gatekeeper).self, absent: .abstains) {
        try await $0.allows(event)
      }
      world.violations.check(
        isAllowed == !event.isForbidden, "a vote held in a handler came out wrong")
    case 4:
      _ = await world.hub.drain(within: .zero)
    default: break
    }
  }

  private func followUp(_ dice: inout Dice) -> Event {
    Event(
      id: dice.next(), producer: nil, sequence: 0, postedAt: World.now(), isForbidden: false)
  }
}
