import Benchmark
import Delegation

/// Notifications: alone and in bursts, until the last is handled, and until `notify` returns.
func telling() {
  for size in sizes {
    Benchmark("notify, 1 to \(size)") { benchmark, audience in
      audience.hub.notify((any Listener).self) { $0.didHappen() }
      await audience.hub.drain()
    } setup: {
      Audience.listeners(size)
    }
    Benchmark("notify, burst of 100 to \(size)") { benchmark, audience in
      for _ in 0..<100 { audience.hub.notify((any Listener).self) { $0.didHappen() } }
      await audience.hub.drain()
    } setup: {
      Audience.listeners(size)
    }
    Benchmark("notify, burst of 100 returns, to \(size)") { benchmark, audience in
      benchmark.startMeasurement()
      for _ in 0..<100 { audience.hub.notify((any Listener).self) { $0.didHappen() } }
      benchmark.stopMeasurement()
      await audience.hub.drain()
    } setup: {
      Audience.listeners(size)
    }
  }
  Benchmark("notify, burst of 100 to 100 that yield") { benchmark, audience in
    for _ in 0..<100 {
      audience.hub.notify((any Listener).self) { await $0.didHappenAtLeisure() }
    }
    await audience.hub.drain()
  } setup: {
    Audience.listeners(100)
  }
  Benchmark("notifyAndWait, to 100") { benchmark, audience in
    await audience.hub.notifyAndWait((any Listener).self) { $0.didHappen() }
  } setup: {
    Audience.listeners(100)
  }
}
