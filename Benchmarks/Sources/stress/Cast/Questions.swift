import Delegation

/// The calls that await answers, whose outcomes are known beforehand: all gatekeepers judge an event
/// alike, and some are always there.
struct Questions: Sendable {
  private let world: World
  private let judges: Int

  /// Prepares to ask.
  ///
  /// - Parameters:
  ///   - world: whom.
  ///   - residents: who is always there.
  init(_ world: World, _ residents: [Resident]) {
    self.world = world
    judges = residents.count { $0.subscriber.conduct.temper != .failing }
  }

  /// Asks everybody something about an event.
  ///
  /// - Parameters:
  ///   - event: which one.
  ///   - dice: what decides of the question.
  func ask(_ event: Event, _ dice: inout Dice) async {
    switch dice.roll(8) {
    case 0, 1: await vote(event)
    case 2: await voteOrFail(event)
    case 3: await voteInTime(event)
    case 4: await collect(event)
    case 5: await sum()
    case 6: await pass()
    default: await askInTurn(event)
    }
  }

  private func vote(_ event: Event) async {
    let isAllowed = await world.hub.vote((any Gatekeeper).self, absent: .abstains) {
      try await $0.allows(event)
    }
    world.tally.count(.voted)
    world.violations.check(isAllowed == !event.isForbidden, "a vote came out wrong")
  }

  private func voteOrFail(_ event: Event) async {
    do {
      let isAllowed = try await world.hub.vote((any Gatekeeper).self) { try await $0.allows(event) }
      world.tally.count(.voted)
      world.violations.check(isAllowed == !event.isForbidden, "a vote that may fail came out wrong")
    } catch {
      world.tally.count(.failedVotes)
      world.violations.check(error is Refusal, "a vote failed with another error than was thrown")
    }
  }

  /// The late count as a no: a yes is everybody's.
  private func voteInTime(_ event: Event) async {
    let isAllowed = await world.hub.vote(
      (any Gatekeeper).self, within: .milliseconds(1), absent: .counts(as: false)
    ) { try await $0.allows(event) }
    world.tally.count(.votedLate)
    world.violations.check(
      !(isAllowed && event.isForbidden), "a vote with a deadline allowed what is forbidden")
  }

  private func collect(_ event: Event) async {
    let replies = await world.hub.collect((any Gatekeeper).self) { try await $0.allows(event) }
    world.tally.count(.asked)
    world.violations.check(replies.count >= judges, "collect left somebody out")
    for case .success(let isAllowed) in replies.map(\.result) {
      world.violations.check(isAllowed == !event.isForbidden, "collect brought a wrong answer")
    }
  }

  private func sum() async {
    let count = await world.hub.ask((any Gatekeeper).self, combining: .sum()) { _ in 1 }
    world.tally.count(.asked)
    world.violations.check(count >= judges, "a sum left somebody out")
  }

  private func pass() async {
    let count = await world.hub.pass(0, through: (any Gatekeeper).self) { _, count in count + 1 }
    world.tally.count(.asked)
    world.violations.check((count ?? 0) >= judges, "pass left somebody out")
  }

  private func askInTurn(_ event: Event) async {
    let answer = await world.hub.askInTurn((any Gatekeeper).self) { _ in event.isForbidden }
    world.tally.count(.asked)
    world.violations.check(answer == event.isForbidden, "askInTurn came back with another's answer")
  }
}
