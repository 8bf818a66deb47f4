import Delegation

/// What a vote costs when its voters answer at once, hop, yield or sleep, by one caller and by several.
let voteRows: [Row] =
  (sizes + [1000]).map { count in
    let id = "vote.class.\(count)"
    return Row(id) { _ in
      await votes(
        id, among: classes(count), targets: asked[count] ?? VoteTargets(), withActor: true)
    }
  }
  + sizes.map { count in
    let id = "vote.sync.\(count)"
    return Row(id) { _ in
      await promptVotes(id, among: promptClasses(count), targets: askedAtOnce(count))
    }
  } + callerRows + otherVoteRows

/// How many voters there are.
private let sizes = [1, 2, 3, 5, 10, 30, 100]

/// What DESIGN asks of a vote among so many that are awaited, and answer without suspending.
private let asked = [
  // A group's only task comes by way of the pool: how long that takes, the kernel decides.
  1: VoteTargets(group: .faster(7, noise: .wakes)),
  2: VoteTargets(group: .faster(3.5)),
  3: VoteTargets(group: .faster(4.5)),
  5: VoteTargets(group: .faster(5)),
  10: VoteTargets(group: .faster(6.5), loop: .within(1.2)),
  100: VoteTargets(group: .faster(12), loop: .within(1)),
]

/// What DESIGN asks of a vote among so many by a closure that awaits nothing.
private func askedAtOnce(_ count: Int) -> VoteTargets {
  let limits = [1: 4, 10: 2, 100: 1.2]
  return VoteTargets(
    group: .faster(10, noise: count == 1 ? .wakes : .usual),
    actor: limits[count].map { .within($0) })
}

/// Several callers at once; one alone is in the rows above.
private let callerRows: [Row] =
  [3, 10].flatMap { count in [2, 4].map { awaited(count, callers: $0) } }
  + sizes.flatMap { count in
    let id = "vote.sync.\(count).callers8"
    return [
      awaited(count, callers: 8),
      Row(id) { _ in
        await promptVotes(id, among: promptClasses(count), targets: VoteTargets(), callers: 8)
      },
    ]
  }

/// What DESIGN asks of a vote among so many by eight callers.
private let askedByEight = [5: 3.5, 10: 4.5]

private func awaited(_ count: Int, callers: Int) -> Row {
  let id = "vote.class.\(count).callers\(callers)"
  let target = callers == 8 ? askedByEight[count].map { Target.faster($0, noise: .wakes) } : nil
  return Row(id) { _ in
    await votes(
      id, among: classes(count), targets: VoteTargets(group: target), callers: callers,
      withActor: true)
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

private func promptClasses(_ count: Int) -> [any PromptGatekeeper] {
  (0..<count).map { PromptClassGatekeeper(forbidding: $0) }
}

private func actors(_ count: Int) -> [any Gatekeeper] {
  (0..<count).map { ActorGatekeeper(forbidding: $0) }
}
