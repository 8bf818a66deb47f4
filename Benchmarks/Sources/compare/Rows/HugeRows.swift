import Delegation

/// What a delivery costs among a hundred thousand subscribers of one protocol.
let hugeRows: [Row] = [
  Row("notify.100000") { _ in
    let few = listening("hub, N=100", Crowd(100, burst: 10))
    let many = listening("hub, N=100,000", Crowd(100_000, burst: 10))
    return Contest(
      id: "notify.100000", unit: "delivery", contestants: [few, many],
      comparisons: [.of(many.name, against: few.name, target: .within(2))])
  }
]

private let request = Request(id: 7, units: 1)

/// Makes a contestant of a hub whom a crowd listens to.
private func listening(_ name: String, _ crowd: Crowd<BurstListener>) -> Contestant {
  let hub = DelegateHub()
  for listener in crowd.listeners { hub.subscribe(listener, to: (any Listener).self) }
  return posting(name, to: crowd) { hub.notify((any Listener).self) { $0.didPerform(request) } }
}
