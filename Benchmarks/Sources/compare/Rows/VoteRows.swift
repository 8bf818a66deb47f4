import Delegation

/// What a vote costs when its voters answer at once, hop, or sleep.
let voteRows: [Row] = [
  Row(id: "vote.class.1") { _ in
    await votes("vote.class.1", among: classes(1), targets: Targets())
  },
  Row(id: "vote.class.10") { _ in
    await votes(
      "vote.class.10", among: classes(10), targets: Targets(group: .faster(6), loop: .within(1.2)))
  },
  Row(id: "vote.class.100") { _ in
    await votes(
      "vote.class.100", among: classes(100), targets: Targets(group: .faster(8), loop: .within(1)))
  },
  Row(id: "vote.class.1000") { _ in
    await votes("vote.class.1000", among: classes(1000), targets: Targets())
  },
  Row(id: "vote.actor.100") { _ in
    let actors = gatekeepers(100) { ActorGatekeeper(forbidding: $0) }
    return await votes("vote.actor.100", among: actors, targets: Targets(group: .faster(7)))
  },
  Row(id: "vote.sleep.100") { plan in
    let sleepers = gatekeepers(100) { SleepingGatekeeper(forbidding: $0) }
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

private func classes(_ count: Int) -> [any Gatekeeper] {
  gatekeepers(count) { ClassGatekeeper(forbidding: $0) }
}

/// Makes voters each of whom forbids the request that bears its own index.
private func gatekeepers(
  _ count: Int, _ make: (Int) -> any Gatekeeper
) -> [any Gatekeeper] {
  (0..<count).map(make)
}

/// Sets up one contest of votes.
private func votes(
  _ id: String, among voters: [any Gatekeeper], targets: Targets, unit: String = "voter",
  withLoop: Bool = true
) async -> Contest {
  let hub = DelegateHub()
  for voter in voters { hub.subscribe(voter, to: (any Gatekeeper).self) }
  let group = TaskPerCallHub()
  for voter in voters { await group.add(voter) }
  let loop = WeakLoop(gatekeepers: voters)

  let units = unit == "vote" ? 1 : voters.count
  var contestants = [
    await voting("hub", units: units, voters) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await hub.vote((any Gatekeeper).self, { await $0.mayPerform(request) }) { granted += 1 }
      }
      return granted
    },
    await voting("task group", units: units, voters) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await group.vote({ await $0.mayPerform(request) }) { granted += 1 }
      }
      return granted
    },
  ]
  if withLoop {
    contestants.append(
      await voting("weak loop", units: units, voters) { request, times in
        var granted = 0
        for _ in 0..<times {
          if await loop.vote({ await $0.mayPerform(request) }) { granted += 1 }
        }
        return granted
      })
  }
  return Contest(
    id: id, unit: unit, contestants: contestants,
    comparisons: [
      .of(against: "task group", target: targets.group),
      .of(against: "weak loop", target: targets.loop),
    ])
}

/// Makes a contestant of something that votes.
///
/// `vote` holds so many votes on the request and returns how many allowed it. It loops itself, so
/// that the contestants' own calls are all that is measured.
private func voting(
  _ name: String, units: Int, _ voters: [any Gatekeeper],
  _ vote: @escaping @Sendable (_ request: Request, _ times: Int) async -> Int
) async -> Contestant {
  // Nobody wins by not asking: the first and the last voter must each be able to deny.
  for forbidden in [0, voters.count - 1] {
    let granted = await vote(Request(id: forbidden, units: 1), 1)
    precondition(granted == 0, "\(name) did not ask voter \(forbidden) of \(voters.count)")
  }
  return Contestant(
    name, units: units, keeping: voters,
    work: { iterations in
      let granted = await vote(allowed, iterations)
      precondition(granted == iterations, "\(name) denied what everybody allows")
    })
}
