import Delegation

/// What a whole vote costs whose voters suspend: once each, one more often than the other, or because
/// they have others vote.
let suspendingRows: [Row] =
  [1, 2, 3, 5, 10].map(yieldingOnce)
  + [1, 3, 10].flatMap { count in
    [
      suspending(
        "suspend.uneven.\(count)",
        (0..<count).map { YieldingGatekeeper(forbidding: $0, times: $0 + 1) }),
      chain("suspend.chain.\(count)", count) { YieldingGatekeeper(forbidding: $0) },
      // The same without a voter that suspends.
      chain("vote.chain.\(count)", count) { ClassGatekeeper(forbidding: $0) },
    ]
  }

/// DESIGN asks of several voters that each yield once no more than that the task group is no faster.
private func yieldingOnce(_ count: Int) -> Row {
  suspending(
    "suspend.once.\(count)", (0..<count).map { YieldingGatekeeper(forbidding: $0) },
    target: count > 1 ? .within(1, noise: .wakes) : nil)
}

private func suspending(_ id: String, _ voters: [any Gatekeeper], target: Target? = nil) -> Row {
  Row(id) { _ in
    await votes(id, among: voters, targets: VoteTargets(group: target), unit: "vote")
  }
}

/// A row whose voters have the only voter of a second hub vote, which has that of a third one vote.
///
/// - Parameters:
///   - id: the row's name.
///   - count: how many voters the first hub has.
///   - end: makes the third hub's voter, which forbids the given request.
/// - Returns: the row.
private func chain(
  _ id: String, _ count: Int, endingWith end: @escaping @Sendable (Int) -> any Gatekeeper
) -> Row {
  Row(id) { _ in
    let voters = await chained(count, to: end(count)) { voter in
      let hub = DelegateHub()
      hub.subscribe(voter, to: (any Gatekeeper).self)
      return { request in
        await hub.vote((any Gatekeeper).self) { await $0.mayPerform(request) }
      }
    }
    let groupVoters = await chained(count, to: end(count)) { voter in
      let group = TaskPerCallHub()
      await group.add(voter)
      return { request in await group.vote { await $0.mayPerform(request) } }
    }
    return await votes(
      id, among: voters, inGroup: groupVoters, unit: "vote", withLoop: false)
  }
}

/// Makes voters that all have one and the same second voter vote, which has a third one vote.
///
/// - Parameters:
///   - count: how many.
///   - end: the third one, which forbids the request of this number.
///   - voting: makes what has one voter vote.
/// - Returns: the voters; each forbids the request that bears its own index.
private func chained(
  _ count: Int, to end: any Gatekeeper,
  _ voting: (any Gatekeeper) async -> ChainedGatekeeper.Vote
) async -> [any Gatekeeper] {
  let second = ChainedGatekeeper(forbidding: count + 1, after: [end], await voting(end))
  let vote = await voting(second)
  // Nobody wins by not asking them.
  for forbidden in [count, count + 1] {
    let isGranted = await vote(Request(id: forbidden, units: 1))
    precondition(!isGranted, "the end of the chain was not asked")
  }
  return (0..<count).map { ChainedGatekeeper(forbidding: $0, after: [second], vote) }
}
