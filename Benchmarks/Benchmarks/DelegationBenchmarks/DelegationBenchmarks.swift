import Benchmark
import Delegation

/// The hub alone, in percentiles, for one build to be held against another.
///
/// What it costs beside its peers is `compare`'s to say: two processes' times are not comparable on a machine that has
/// other work. The thresholds are relative, for there is nothing here that is the same on any machine: without the traits
/// of the package it counts no allocations, and without perf events no instructions, which `.ci/calls` does.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .cpuTotal, .instructions],
    maxDuration: .milliseconds(400),
    maxIterations: 100_000,
    // On a busy machine two runs of the same build differ by half in what has passed on the wall: that is shown only.
    thresholds: [
      .wallClock: .init(),
      .cpuTotal: .init(relative: [.p50: 20, .p90: 40]),
      .instructions: .init(relative: [.p50: 3]),
    ])
  for size in [1, 10, 100] {
    telling(to: size)
    asking(size)
    streaming(to: size)
    subscribing(size)
  }
  controls()
}

/// Who is told and asked.
protocol Delegate: AnyObject, Sendable {
  func didHappen()
  func allows(_ number: Int) async -> Bool
  func allowsLater(_ number: Int) async -> Bool
}

final class Member: Delegate {
  func didHappen() {}
  func allows(_ number: Int) async -> Bool { number >= 0 }
  func allowsLater(_ number: Int) async -> Bool {
    await Task.yield()
    return number >= 0
  }
}

/// Delegates and those who have subscribed, whom the hub does not keep alive.
struct Audience: Sendable {
  let delegates = Delegates<any Delegate>()
  let members: [Member]

  init(_ size: Int) {
    members = (0..<size).map { _ in Member() }
    for member in members { delegates.registry.subscribe(member) }
  }
}

/// Notifications: alone and in bursts, until the last is handled, and until `notify` returns.
private func telling(to size: Int) {
  Benchmark("notifyAndWait, \(size)") { _, audience in
    await audience.delegates.notifyAndWait { $0.didHappen() }
  } setup: {
    Audience(size)
  }
  Benchmark("notify, a burst of 100 to \(size)") { _, audience in
    for _ in 0..<100 { audience.delegates.notify { $0.didHappen() } }
    await audience.delegates.hub.drain()
  } setup: {
    Audience(size)
  }
  Benchmark("notify, a burst of 100 returns, \(size)") { benchmark, audience in
    benchmark.startMeasurement()
    for _ in 0..<100 { audience.delegates.notify { $0.didHappen() } }
    benchmark.stopMeasurement()
    await audience.delegates.hub.drain()
  } setup: {
    Audience(size)
  }
}

private func asking(_ size: Int) {
  Benchmark("vote, \(size)") { _, audience in
    blackHole(await audience.delegates.vote { await $0.allows(7) })
  } setup: {
    Audience(size)
  }
  Benchmark("vote, \(size) that suspend once") { _, audience in
    blackHole(await audience.delegates.vote { await $0.allowsLater(7) })
  } setup: {
    Audience(size)
  }
}

/// Loops, each of which has taken a hundred events.
private func streaming(to size: Int) {
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

private func subscribing(_ size: Int) {
  Benchmark("subscribe and cancel, \(size)") { _, members in
    let delegates = Delegates<any Delegate>()
    let subscriptions = members.map { delegates.registry.subscribe($0) }
    blackHole(delegates.count)
    for subscription in subscriptions { subscription.cancel() }
    blackHole(delegates.count)
  } setup: {
    (0..<size).map { _ in Member() }
  }
}

/// What the machine does without any library: if these have changed, so has all the rest.
private func controls() {
  actor Counter {
    private var count = 0
    func increment() { count += 1 }
  }
  Benchmark("control: 1,000 hops to an actor") { _, counter in
    for _ in 0..<1000 { await counter.increment() }
  } setup: {
    Counter()
  }
  Benchmark("control: 100 tasks, one after another") { _ in
    for _ in 0..<100 { await Task {}.value }
  }
}
