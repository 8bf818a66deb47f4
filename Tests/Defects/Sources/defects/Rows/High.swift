import Delegation
import Foundation
import Synchronization

extension Row {
  static let h1 = Row("H1") {
    let hub = DelegateHub()
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self)
    let queue = DispatchQueue(label: "busy")
    // A caller that prefers a queue, which gets other work before the hub can answer.
    Task(executorPreference: DispatchQueueExecutor(queue)) {
      queue.async { Thread.sleep(forTimeInterval: 1) }
      _ = await hub.subscriberCount(of: Listener.self)
    }
    await pause(milliseconds: 100)
    let time = await milliseconds {
      _ = await hub.vote(
        Listener.self, within: .milliseconds(20), absent: .counts(as: false)
      ) { _ in true }
    }
    withExtendedLifetime(voter) {}
    return Finding(
      defect: time > 500,
      "a vote within 20 ms took \(time.short) ms beside another caller's busy queue")
  }

  static let h2 = Row("H2") {
    let hub = DelegateHub()
    let voter = Probe()
    let subscription = hub.subscribe(voter, to: Listener.self)
    let (end, begun) = (Gate(), Gate())
    let returns = Counter()
    async let first = hub.vote(Listener.self) { _ in
      begun.open()
      await end.pass()
      return true
    }
    await begun.pass()
    _ = await hub.vote(Listener.self) { _ in
      Task {
        await subscription.cancelAndWait()
        returns.add()
      }
      // Until the task waits.
      await pause(milliseconds: 100)
      return true
    }
    await pause(milliseconds: 200)
    let early = returns.count
    end.open()
    _ = await first
    await eventually { returns.count == 1 }
    withExtendedLifetime(voter) {}
    return Finding(
      defect: early > 0,
      "cancelAndWait() returned \(early == 0 ? "after" : "while") another handler ran")
  }

  static let h3 = Row("H3") {
    let race = Race()
    let (rounds, handled) = (Counter(), Counter())
    let end = ContinuousClock.now + .seconds(15)
    await onThreads(2) { index in
      if index == 0 {
        while rounds.count < 20_000, ContinuousClock.now < end {
          // The 512th change, of which the hub wakes its actor, if there is a hub.
          let subscription = race.prepare(at: rounds.add())
          race.dally(rounds.count)
          subscription.cancel()
          race.waitForOther(rounds.count)
        }
        race.stop()
      } else {
        var round = 1
        while let hub = race.hub(at: round) {
          hub.notify(Listener.self) { if $0.name == 0 { handled.add() } }
          // Released here.
          _ = consume hub
          race.finish(round)
          round += 1
        }
      }
    }
    await eventually(within: 5) { handled.count == rounds.count }
    return Finding(
      defect: handled.count < rounds.count,
      "\(rounds.count - handled.count) of \(rounds.count) notifications lost")
  }

  static let h4 = Row("H4") {
    var times: [Double] = []
    for count in [40, 80] {
      let hub = DelegateHub()
      let probes = Probe.many(count)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      times.append(
        await milliseconds {
          hub.notify(Listener.self) { _ in await hub.notifyAndWait(Listener.self) { _ in } }
          await hub.drain()
        })
      withExtendedLifetime(probes) {}
    }
    return Finding(
      defect: times[1] > 500,
      "40 handlers that notify all and wait take \(times[0].short) ms, 80 take \(times[1].short) ms"
    )
  }

  static let h5 = Row("H5") {
    let hub = DelegateHub()
    let queue = DispatchQueue(label: "busy in pieces")
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self, on: DispatchQueueExecutor(queue))
    let end = Gate()
    keepBusy(queue, inPiecesOf: 0.005, until: end)
    var times: [Double] = []
    for _ in 0..<40 {
      times.append(await milliseconds { _ = await hub.vote(Listener.self) { _ in true } })
    }
    let late = Counter()
    for _ in 0..<40 {
      let isOver = Gate()
      _ = await hub.vote(Listener.self, within: .milliseconds(20), absent: .abstains) { _ in
        if isOver.isOpen { late.add() }
        return true
      }
      isOver.open()
    }
    end.open()
    _ = await hub.drain()
    withExtendedLifetime(voter) {}
    return Finding(
      defect: median(times) > 25 || late.count > 0,
      """
      a vote on a queue that is busy in pieces of 5 ms takes \(median(times).short) ms; of 40 handlers \
      \(late.count) began after their deadline
      """)
  }
}

private func keepBusy(_ queue: DispatchQueue, inPiecesOf seconds: Double, until end: Gate) {
  queue.async {
    Thread.sleep(forTimeInterval: seconds)
    if !end.isOpen { keepBusy(queue, inPiecesOf: seconds, until: end) }
  }
}

/// One thread cancels, another one posts and releases the hub.
private final class Race: Sendable {
  private let slot = Mutex<DelegateHub?>(nil)
  private let started = Atomic<Int>(0)
  private let finished = Atomic<Int>(0)
  private let probes = Probe.many(3)

  /// Makes a hub, hands it to the other thread, and gives back the subscription to cancel.
  func prepare(at round: Int) -> Subscription {
    let hub = DelegateHub()
    hub.subscribe(probes[0], to: Listener.self)
    hub.subscribe(probes[1], to: Listener.self)
    let subscription = hub.subscribe(probes[2], to: Listener.self)
    // Each of them is two changes.
    for _ in 0..<254 { hub.subscribe(Probe(), to: Listener.self).cancel() }
    slot.withLock { $0 = hub }
    started.store(round, ordering: .releasing)
    return subscription
  }

  /// Takes some time, more or less.
  func dally(_ round: Int) {
    for _ in 0..<(round % 64) { _ = started.load(ordering: .sequentiallyConsistent) }
  }

  func hub(at round: Int) -> DelegateHub? {
    while started.load(ordering: .acquiring) < round {}
    return slot.withLock { hub in
      defer { hub = nil }
      return hub
    }
  }

  func stop() { started.store(.max, ordering: .releasing) }

  func finish(_ round: Int) { finished.store(round, ordering: .releasing) }

  func waitForOther(_ round: Int) {
    while finished.load(ordering: .acquiring) < round {}
  }
}
