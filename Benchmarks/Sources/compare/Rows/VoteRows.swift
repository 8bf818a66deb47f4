import Delegation

/// What a vote costs when its voters answer at once, hop, yield or sleep, by one caller and by several.
let voteRows: [Row] =
  [1, 2, 3, 5, 10, 100, 1000].map { count in
    let id = "vote.class.\(count)"
    return Row(id) { _ in
      await votes(
        id, among: classes(count), targets: asked[count] ?? VoteTargets(), withActor: true)
    }
  } + callerRows + otherVoteRows

/// What DESIGN asks of a vote among so many that answer at once.
private let asked = [
  // A group's only task comes by way of the pool: how long that takes, the kernel decides.
  1: VoteTargets(group: .faster(5, noise: .wakes)),
  3: VoteTargets(group: .faster(5)),
  10: VoteTargets(group: .faster(6), loop: .within(1.2)),
  100: VoteTargets(group: .faster(8), loop: .within(1)),
]

/// Several callers at once; one alone is in the rows above.
private let callerRows: [Row] = [3, 10].flatMap { count in
  [2, 4, 8].map { callers in
    let id = "vote.class.\(count).callers\(callers)"
    let target: Target? = count == 10 && callers == 8 ? .faster(4, noise: .wakes) : nil
    return Row(id) { _ in
      await votes(id, among: classes(count), targets: VoteTargets(group: target), callers: callers)
    }
  }
}

private let otherVoteRows: [Row] = [
  Row("vote.actor.10") { _ in await votes("vote.actor.10", among: actors(10)) },
  Row("vote.actor.100") { _ in
    await votes("vote.actor.100", among: actors(100), targets: VoteTargets(group: .faster(7)))
  },
  Row("vote.actor.1000") { _ in await votes("vote.actor.1000", among: actors(1000)) },
  Row("vote.yield.100") { _ in
    let yielders = (0..<100).map { YieldingGatekeeper(forbidding: $0) }
    return await votes("vote.yield.100", among: yielders)
  },
  Row("vote.sleep.100") { plan in
    let sleepers = (0..<100).map { SleepingGatekeeper(forbidding: $0) }
    return await votes(
      "vote.sleep.100", among: sleepers, targets: VoteTargets(group: .within(1.05)), unit: "vote",
      withLoop: !plan.skipsSlowControls)
  },
]

// Each of the voters forbids the request that bears its own index.

private func classes(_ count: Int) -> [any Gatekeeper] {
  (0..<count).map { ClassGatekeeper(forbidding: $0) }
}

private func actors(_ count: Int) -> [any Gatekeeper] {
  (0..<count).map { ActorGatekeeper(forbidding: $0) }
}
