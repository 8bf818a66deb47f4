import Delegation

/// What a vote costs that the first of a hundred voters decides.
let vetoRows: [Row] = [
  Row("vote.veto.100") { _ in await vetoes() }
]

/// What the first voter forbids.
private let forbidden = Request(id: 0, units: 1)

private func vetoes() async -> Contest {
  let asked = Count()
  let voters = (0..<100).map { CountedGatekeeper(forbidding: $0, asked: asked) }
  let hub = DelegateHub()
  for voter in voters { hub.subscribe(voter, to: (any Gatekeeper).self) }
  let group = TaskPerCallHub()
  for voter in voters { await group.add(voter) }
  let loop = WeakLoop(gatekeepers: voters)

  return Contest(
    id: "vote.veto.100", unit: "vote",
    contestants: [
      await vetoing("hub", voters, asked, asksOthers: false) {
        await hub.vote((any Gatekeeper).self) { await $0.mayPerform(forbidden) }
      },
      await vetoing("task group", voters, asked, asksOthers: true) {
        await group.vote { await $0.mayPerform(forbidden) }
      },
      await vetoing("weak loop", voters, asked, asksOthers: false) {
        await loop.vote { await $0.mayPerform(forbidden) }
      },
    ],
    comparisons: [.of(against: "task group"), .of(against: "weak loop")])
}

/// Makes a contestant whose votes end with the first voter.
private func vetoing(
  _ name: String, _ voters: [CountedGatekeeper], _ asked: Count, asksOthers: Bool,
  _ vote: @escaping @Sendable () async -> Bool
) async -> Contestant {
  Contestant(
    name, units: 1, keeping: voters,
    work: { iterations in
      let before = asked.value
      for _ in 0..<iterations {
        let granted = await vote()
        precondition(!granted, "\(name) granted what the first voter forbids")
      }
      precondition(
        asksOthers || asked.value - before == iterations, "\(name) asked others after a veto")
    })
}
