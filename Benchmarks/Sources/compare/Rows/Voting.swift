import Delegation

/// What DESIGN asks of a vote.
struct VoteTargets {
  /// Held against the task group.
  var group: Target?
  /// Held against the actor loop.
  var actor: Target?
  /// Held against the weak loop.
  var loop: Target?
}

/// The request that everybody allows.
private let allowed = Request(id: -1, units: 1)

/// Sets up one contest of votes whose voters are awaited.
///
/// - Parameters:
///   - id: the row's name.
///   - voters: who is asked; each forbids the request that bears its own index.
///   - groupVoters: who is asked in the task group, if those who are asked there cannot be the same.
///   - targets: what DESIGN asks for.
///   - unit: what one unit is, a voter or a vote.
///   - callers: how many tasks vote at once.
///   - withLoop: whether the weak loop takes part.
///   - withActor: whether the actor loop takes part.
/// - Returns: the contest.
func votes(
  _ id: String, among voters: [any Gatekeeper], inGroup groupVoters: [any Gatekeeper]? = nil,
  targets: VoteTargets = VoteTargets(),
  unit: String = "voter", callers: Int = 1, withLoop: Bool = true, withActor: Bool = false
) async -> Contest {
  let hub = DelegateHub()
  for voter in voters { hub.subscribe(voter, to: (any Gatekeeper).self) }
  let group = TaskPerCallHub()
  let groupVoters = groupVoters ?? voters
  for voter in groupVoters { await group.add(voter) }
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
    await voting("task group", units: units, groupVoters, callers: callers) { request, times in
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
  return contest(id, unit: unit, among: contestants, targets: targets)
}

/// Sets up one contest of votes whose voters answer at once.
///
/// - Parameters:
///   - id: the row's name.
///   - voters: who is asked; each forbids the request that bears its own index.
///   - targets: what DESIGN asks for.
///   - callers: how many tasks vote at once.
/// - Returns: the contest.
func promptVotes(
  _ id: String, among voters: [any PromptGatekeeper], targets: VoteTargets, callers: Int = 1
) async -> Contest {
  let hub = DelegateHub()
  let group = TaskPerCallHub()
  let actor = ActorLoop()
  for voter in voters {
    hub.subscribe(voter, to: (any PromptGatekeeper).self)
    await group.add(voter)
    await actor.add(voter)
  }
  let loop = WeakLoop(promptGatekeepers: voters)

  let units = voters.count
  let contestants = [
    await voting("hub", units: units, voters, callers: callers) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await hub.vote((any PromptGatekeeper).self, { $0.allows(request) }) { granted += 1 }
      }
      return granted
    },
    await voting("task group", units: units, voters, callers: callers) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await group.vote({ $0.allows(request) }) { granted += 1 }
      }
      return granted
    },
    await voting("actor loop", units: units, voters, callers: callers) { request, times in
      var granted = 0
      for _ in 0..<times {
        if await actor.vote({ $0.allows(request) }) { granted += 1 }
      }
      return granted
    },
    await voting("weak loop", units: units, voters, callers: callers) { request, times in
      var granted = 0
      for _ in 0..<times where loop.vote({ $0.allows(request) }) { granted += 1 }
      return granted
    },
  ]
  return contest(id, unit: "voter", among: contestants, targets: targets)
}

/// A contest in which the first contestant is held against each other one.
private func contest(
  _ id: String, unit: String, among contestants: [Contestant], targets: VoteTargets
) -> Contest {
  let goals = [
    "task group": targets.group, "actor loop": targets.actor, "weak loop": targets.loop,
  ]
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
  _ name: String, units: Int, _ voters: [any Sendable], callers: Int,
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
