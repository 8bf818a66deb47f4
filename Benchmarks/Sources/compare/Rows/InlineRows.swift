import Delegation

/// What one more subscriber adds to a notification whose handler is synchronous.
let inlineRows: [Row] = [
  Row("inline.1000") { _ in await inline() }
]

private let request = Request(id: 7, units: 1)

/// Sets the hub's marginal cost of a call against a bare weak load and call.
///
/// The difference between bursts to a thousand and to one takes out what a burst costs however many
/// hear it: posting, waking a worker, waiting for the end.
private func inline() async -> Contest {
  let one = Crowd(1, burst: 100)
  let thousand = Crowd(1000, burst: 100)
  let hubOfOne = DelegateHub()
  let hubOfThousand = DelegateHub()
  for listener in one.listeners { hubOfOne.subscribe(listener, to: (any Listener).self) }
  for listener in thousand.listeners { hubOfThousand.subscribe(listener, to: (any Listener).self) }
  let toOne = posting("hub of one", to: one) {
    hubOfOne.notify((any Listener).self) { $0.didPerform(request) }
  }
  let toThousand = posting("hub of a thousand", to: thousand) {
    hubOfThousand.notify((any Listener).self) { $0.didPerform(request) }
  }
  let loop = WeakLoop(listeners: thousand.listeners)
  return Contest(
    id: "inline.1000", unit: "call",
    contestants: [
      Contestant(
        "hub", units: thousand.deliveries - one.deliveries, keeping: [one, thousand],
        timing: { iterations in
          let base = await toOne.run(iterations)
          return await toThousand.run(iterations) - base
        }),
      posting("weak load and call", to: thousand) { loop.notify { $0.didPerform(request) } },
    ],
    comparisons: [.of(against: "weak load and call", target: .within(1.15))])
}
