import Benchmark
import Delegation

/// Coming and going, until the hub has acted on it.
func subscribing() {
  for size in sizes {
    Benchmark("subscribe \(size)") { benchmark, members in
      let hub = DelegateHub()
      benchmark.startMeasurement()
      for member in members { hub.subscribe(member, to: (any Listener).self) }
      blackHole(await hub.askInTurn((any Listener).self) { _ in true })
      benchmark.stopMeasurement()
    } setup: {
      (0..<size).map { _ in Member() }
    }
    Benchmark("cancel \(size)") { benchmark, members in
      let hub = DelegateHub()
      let subscriptions = members.map { hub.subscribe($0, to: (any Listener).self) }
      blackHole(await hub.askInTurn((any Listener).self) { _ in true })
      benchmark.startMeasurement()
      for subscription in subscriptions { subscription.cancel() }
      blackHole(await hub.askInTurn((any Listener).self) { _ in true })
      benchmark.stopMeasurement()
    } setup: {
      (0..<size).map { _ in Member() }
    }
  }
}
