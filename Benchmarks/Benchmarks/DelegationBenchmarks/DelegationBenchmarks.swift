import Benchmark
import Delegation

/// The hub alone, in percentiles, for one build to be held against another.
///
/// What others take is in `compare`: times of two processes are not comparable on a machine that has other work.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .instructions], maxDuration: .milliseconds(400),
    maxIterations: 100_000,
    // Relative, for nothing here is the same on any machine. Beside other work one and the same build differs by 80 %.
    thresholds: [
      .wallClock: .init(relative: [.p25: 100]),
      // Where there are perf events.
      .instructions: .init(relative: [.p50: 3]),
    ])
  for size in [1, 10, 100] {
    row("notifyAndWait, \(size)", size) { await $1.notifyAndWait { $0.didHappen() } }
    row("notify, a burst of 100 to \(size)", size) { _, delegates in
      for _ in 0..<100 { delegates.notify { $0.didHappen() } }
      await delegates.hub.drain()
    }
    row("notify, a burst of 100 returns, \(size)", size) { benchmark, delegates in
      benchmark.startMeasurement()
      for _ in 0..<100 { delegates.notify { $0.didHappen() } }
      benchmark.stopMeasurement()
      await delegates.hub.drain()
    }
    row("vote, \(size)", size) { blackHole(await $1.vote { await $0.allows(later: false) }) }
    row("vote, \(size) that suspend once", size) {
      blackHole(await $1.vote { await $0.allows(later: true) })
    }
    row("subscribe and cancel, \(size)", size) { _, delegates in
      let visitor = Member()
      for _ in 0..<100 { delegates.registry.subscribe(visitor).cancel() }
    }
    Benchmark("streams, \(size) take 100 events") { benchmark in
      let events = Events<Int>()
      let streams = (0..<size).map { _ in events.registry.stream() }
      benchmark.startMeasurement()
      await withDiscardingTaskGroup { group in
        for stream in streams { group.addTask { for await event in stream { blackHole(event) } } }
        for number in 0..<100 { events.post(number) }
        events.finish()
      }
      benchmark.stopMeasurement()
    }
  }
  // What the machine does without any library: if this has changed, so has all the rest.
  Benchmark("control: 100 tasks, one after another") { _ in
    for _ in 0..<100 { await Task {}.value }
  }
}

/// Something that is done to so many, whom the hub keeps alive.
private func row(
  _ name: String, _ size: Int,
  _ body: @escaping @Sendable (Benchmark, Delegates<any Delegate>) async -> Void
) {
  Benchmark(name, closure: body) {
    let delegates = Delegates<any Delegate>()
    for _ in 0..<size { delegates.registry.subscribe(Member(), hold: .strongly) }
    return delegates
  }
}

/// Who is told and asked.
protocol Delegate: AnyObject, Sendable {
  func didHappen()
  func allows(later isLater: Bool) async -> Bool
}

final class Member: Delegate {
  func didHappen() {}
  func allows(later isLater: Bool) async -> Bool {
    if isLater { await Task.yield() }
    return true
  }
}
