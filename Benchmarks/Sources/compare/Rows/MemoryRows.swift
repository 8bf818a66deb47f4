import Delegation

#if os(Linux)
  /// What subscriptions, waiting notifications and dead subscribers cost in memory.
  let memoryRows: [Row] =
    [
      Row("memory.subscription", measure: { _ in await subscriptions() }),
      Row("memory.waiting", measure: { await waiting($0) }),
      Row("memory.dead", measure: { _ in await dead() }),
    ] + smallMemoryRows + waitingMemoryRows
#else
  /// Bytes are counted on Linux alone.
  let memoryRows: [Row] = []
#endif

private let request = Request(id: 7, units: 1)

/// Counts something a few times, and makes a line of it.
private func counted(
  _ row: String, _ subject: String, per unit: String, target: Target, times: Int,
  _ count: () async -> Double
) async -> Line {
  var figures: [Double] = []
  for _ in 0..<times { figures.append(await count()) }
  return Line(
    row: row, unit: unit, scale: .bytes, comparison: .alone(subject, target: target),
    figure: Samples(figures))
}

/// All that is allocated for a subscription, the weak reference's side table and the allocator's own
/// share included, the subscriber itself not.
private func subscriptions() async -> [Line] {
  let count = 100_000
  // Kept until all is counted: what is let go of while another is counted would be taken off that.
  var kept: [any Sendable] = []
  let line = await counted(
    "memory.subscription", "hub, N=100,000", per: "subscription",
    target: .atMost(300, noise: .counted), times: 3
  ) {
    let hub = DelegateHub()
    let end = Countdown()
    let listeners = (0..<count).map { _ in BurstListener(burst: 1, end: end) }
    let before = await allocatedBytes()
    for listener in listeners { hub.subscribe(listener, to: (any Listener).self) }
    let subscribed = hub.subscriberCount(of: (any Listener).self)
    precondition(subscribed == count, "only \(subscribed) are subscribed")
    let after = await allocatedBytes()
    kept += [hub, listeners]
    return Double(after - before) / Double(count)
  }
  withExtendedLifetime(kept) {}
  return [line]
}

/// All that is allocated for a notification that waits, whose handler captures nothing.
private func waiting(_ plan: Plan) async -> [Line] {
  var lines: [Line] = []
  for hung in [1, 1000] {
    let name = hung == 1 ? "hub, 1 hangs" : "hub, 1,000 hang"
    let line = await counted(
      "memory.waiting", name, per: "notification", target: .atMost(128, noise: .counted),
      times: plan.countings
    ) {
      await bytesOfWaiting(hung: hung)
    }
    lines.append(line)
  }
  return lines
}

/// What each of many notifications allocates that wait for so many who hang.
func bytesOfWaiting(hung: Int) async -> Double {
  let count = 100_000
  let hub = DelegateHub()
  let door = Door()
  let listeners = (0..<hung).map { _ in HungListener(door: door) }
  for listener in listeners { hub.subscribe(listener, to: (any AsyncListener).self) }
  hub.notify((any AsyncListener).self) { await $0.didPerform(request) }
  await door.waitUntilWaiting(hung)
  func post(_ count: Int) async {
    let before = await hub.statistics().counts.waiting
    for _ in 0..<count { hub.notify((any AsyncListener).self) { await $0.didPerform(request) } }
    // Whose looking in has the hub take all of them to the mailboxes.
    let counts = await hub.statistics().counts
    precondition(counts.waiting == before + hung * count, "not all are waiting: \(counts)")
  }
  // What is there once, however many wait, is not a notification's.
  await post(1000)
  let before = await allocatedBytes()
  await post(count)
  let after = await allocatedBytes()
  hub.unsubscribeAll(from: (any AsyncListener).self)
  door.open()
  await hub.drain()
  withExtendedLifetime(listeners) {}
  return Double(after - before) / Double(count)
}

/// By how much resident memory has grown at most while subscribers come and die without a word.
private func dead() async -> [Line] {
  // Kept, a million would be some 300 MB.
  let line = await counted(
    "memory.dead", "hub", per: "1,000,000 that die", target: .atMost(8e6, noise: .wakes), times: 3
  ) {
    let hub = DelegateHub()
    let end = Countdown()
    var most = 0.0
    func pass(_ count: Int, watch: Bool, from base: Double) async {
      for number in 1...count {
        hub.subscribe(BurstListener(burst: 1, end: end), to: (any Listener).self)
        guard number.isMultiple(of: 1000) else { continue }
        // A moment for the hub's own tasks, but no call on the hub. Now and then a longer one, lest on a
        // machine with other work the kernel's choice of threads be what is measured.
        await Task.yield()
        if number.isMultiple(of: 10_000) { try? await Task.sleep(for: .milliseconds(1)) }
        if watch { most = max(most, Double(residentBytes()) - base) }
      }
    }
    await pass(50_000, watch: false, from: 0)
    // Else the growth would disappear in what earlier rows have freed.
    releaseFreedMemory()
    await pass(50_000, watch: false, from: 0)
    await pass(1_000_000, watch: true, from: Double(residentBytes()))
    return most
  }
  return [line]
}
