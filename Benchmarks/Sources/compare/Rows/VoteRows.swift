import Delegation

/// What a vote costs when its voters answer at once, hop, yield, sleep or veto.
let voteRows: [Row] =
  [1, 2, 3, 5, 10, 100, 1000].map { count in
    let id = "vote.class.\(count)"
    return Row(id) { _ in
      await votes(id, among: classes(count), targets: asked[count] ?? Targets(), withActor: true)
    }
  } + otherVoteRows

/// What DESIGN asks of a vote among so many that answer at once.
private let asked = [
  10: Targets(group: .faster(6), loop: .within(1.2)),
  100: Targets(group: .faster(8), loop: .within(1)),
]

private let otherVoteRows: [Row] = [
  Row("vote.class.10.callers8") { _ in
    await votes("vote.class.10.callers8", among: classes(10), callers: 8)
  },
  Row("vote.actor.10") { _ in await votes("vote.actor.10", among: actors(10)) },
  Row("vote.actor.100") { _ in
    await votes("vote.actor.100", among: actors(100), targets: Targets(group: .faster(7)))
  },
  Row("vote.actor.1000") { _ in await votes("vote.actor.1000", among: actors(1000)) },
  Row("vote.yield.100") { _ in
    let yielders = (0..<100).map { YieldingGatekeeper(forbidding: $0) }
    return await votes("vote.yield.100", among: yielders)
  },
  Row("vote.sleep.100") { plan in
    let sleepers = (0..<100).map { SleepingGatekeeper(forbidding: $0) }
    return await votes(
      "vote.sleep.100", among: sleepers, targets: Targets(group: .within(1.05)), unit: "vote",
      withLoop: !plan.skipsSlowControls)
  },
]

/// What DESIGN asks of a vote.
private struct Targets {
  var group: Target?
  var loop: Target?
}

/// The request that everybody allows.
private let allowed = Request(id: -1, units: 1)

// Each of the voters forbids the request that bears its own index.

private func classes(_ count: Int) -> [any Gatekeeper] {
  (0..<count).map { ClassGatekeeper(forbidding: $0) }
}

private func actors(_ count: Int) -> [any Gatekeeper] {
  (0..<count).map { ActorGatekeeper(forbidding: $0) }
}

/// Sets up one contest of votes.
private func votes(
  _ id: String, among voters: [any Gatekeeper], targets: Targets = Targets(),
  unit: String = "voter", callers: Int = 1, withLoop: Bool = true, withActor: Bool = false
) async -> Contest {
  let hub = DelegateHub()
  for voter in voters { hub.subscribe(voter, to: (any Gatekeeper).self) }
  let group = TaskPerCallHub()
  for voter in voters { await group.add(voter) }
  let loop = WeakLoop(gatekeepers: voters)

  let units = unit == "vote" ? 1 : voters.count
  var contestants = [
    await voting("hub", units: units, voters, callers: callers) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await hub.vote((any Gatekeeper).self, { await $0.mayPerform(request) }) { granted += 1 }
      }
      return granted
    },
    await voting("task group", units: units, voters, callers: callers) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await group.vote({ await $0.mayPerform(request) }) { granted += 1 }
      }
      return granted
    },
  ]
  if withLoop {
    contestants.append(
      await voting("weak loop", units: units, voters, callers: callers) { request, times in
        var granted = 0
        for _ in 0..<times {
          if await loop.vote({ await $0.mayPerform(request) }) { granted += 1 }
        }
        return granted
      })
  }
  if withActor {
    let actor = ActorLoop()
    for voter in voters { await actor.add(voter) }
    contestants.append(
      await voting("actor loop", units: units, voters, callers: callers) { request, times in
        var granted = 0
        for _ in 0..<times {
          if await actor.vote({ await $0.mayPerform(request) }) { granted += 1 }
        }
        return granted
      })
  }
  let goals = ["task group": targets.group, "weak loop": targets.loop]
  return Contest(
    id: id, unit: unit, contestants: contestants,
    comparisons: contestants.dropFirst().map { peer in
      .of(against: peer.name, target: goals[peer.name] ?? nil)
    })
}

/// Makes a contestant of something that votes.
///
/// `vote` holds so many votes on the request and returns how many allowed it. It loops itself, so
/// that the contestants' own calls are all that is measured.
private func voting(
  _ name: String, units: Int, _ voters: [any Gatekeeper], callers: Int,
  _ vote: @escaping @Sendable (_ request: Request, _ times: Int) async -> Int
) async -> Contestant {
  // Nobody wins by not asking: the first and the last voter must each be able to deny.
  for forbidden in [0, voters.count - 1] {
    let granted = await vote(Request(id: forbidden, units: 1), 1)
    precondition(granted == 0, "\(name) did not ask voter \(forbidden) of \(voters.count)")
  }
  return Contestant(
    name, units: units * callers, keeping: voters,
    work: { iterations in
      await together(callers) { _ in
        let granted = await vote(allowed, iterations)
        precondition(granted == iterations, "\(name) denied what everybody allows")
      }
    })
}
