import Delegation
import Foundation
import Synchronization

extension Row {
  static let m1 = Row("M1") {
    var (rounds, most) = (0, 0)
    let end = ContinuousClock.now + .seconds(8)
    while ContinuousClock.now < end, most < 10 {
      rounds += 1
      let hub = DelegateHub()
      let (older, newer) = (Probe(), Probe())
      hub.subscribe(older, to: Listener.self, id: "a", mailbox: .dropOldest(limit: 1000))
      for number in 0..<1000 { hub.notify(Listener.self) { $0.take(number) } }
      while older.count <= rounds % 500 { await Task.yield() }
      hub.subscribe(newer, to: Listener.self, id: "a", mailbox: .dropOldest(limit: 1000))
      await hub.drain()
      most = max(most, 1000 - older.count - newer.count)
    }
    return Finding(
      defect: most > 1,
      "up to \(most) of 1,000 waiting notifications lost by a take-over, in \(rounds) of them")
  }

  static let m2 = Row("M2") {
    let hub = DelegateHub()
    let probe = Probe()
    let (former, latter) = (DispatchQueue(label: "former"), DispatchQueue(label: "latter"))
    let place = DispatchSpecificKey<Bool>()
    former.setSpecific(key: place, value: true)
    let posts = Posts(hub) { DispatchQueue.getSpecific(key: place) == true }
    hub.subscribe(probe, to: Listener.self, on: DispatchQueueExecutor(former))
    for _ in 0..<100 { posts.post() }
    await eventually { posts.handled.count > 1000 }
    hub.subscribe(probe, to: Listener.self, on: DispatchQueueExecutor(latter))
    posts.change()
    // More comes from elsewhere as well, so that a worker that looks in finds another one at work.
    await onThreads(1) { _ in
      let end = ContinuousClock.now + .milliseconds(500)
      while ContinuousClock.now < end { posts.post(again: false) }
    }
    posts.end.open()
    await hub.drain()
    withExtendedLifetime(probe) {}
    return Finding(
      defect: posts.wrong.count > 0,
      """
      of what was posted after the change of executor \(posts.wrong.count) ran on the former one, \
      \(posts.right.count) on the new one
      """)
  }

  static let m3 = Row("M3") {
    // The shortest of three: on a busy machine a thread has to wait for other reasons as well.
    var time = Double.infinity
    for _ in 1...3 { time = min(time, await longestNotify(beside: 1_000_000)) }
    return Finding(
      defect: time > 60,
      """
      notify of another protocol took up to \(time.short) ms while one with 1,000,000 waiting subscribed \
      again with a limit
      """)
  }

  static let m4 = Row("M4") {
    let count = 40_000
    let hub = DelegateHub()
    let (end, running) = (Gate(), Counter())
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self)
    func vote() async -> Double {
      var times: [Double] = []
      for _ in 0..<50 {
        times.append(await milliseconds { _ = await hub.vote(Listener.self) { _ in true } })
      }
      return median(times)
    }
    let before = await vote()
    let probes = Probe.many(count)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    hub.notify(Listener.self) { _ in
      running.add()
      await end.pass()
    }
    await eventually { running.count == count + 1 }
    for subscription in subscriptions { subscription.cancel() }
    let after = await vote()
    end.open()
    await hub.drain()
    withExtendedLifetime((voter, probes)) {}
    return Finding(
      defect: after > 0.1,
      """
      a vote takes \((before * 1000).short) us, beside 40,000 cancelled subscriptions whose handlers \
      run \((after * 1000).short) us
      """)
  }

  static let m5 = Row("M5") {
    let hub = DelegateHub()
    let probes = Probe.many(1000)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let isOver = Gate()
    let (snapshots, wrong) = (Counter(), Counter())
    let changing = Task.detached {
      while !isOver.isOpen {
        for priority in [1, -1] {
          hub.subscribe(probes[500], to: Listener.self, priority: priority)
        }
      }
    }
    for _ in 0..<2000 {
      let names = await hub.subscribers(of: Listener.self).map(\.name).filter { $0 != 500 }
      snapshots.add()
      if names != names.sorted() { wrong.add() }
    }
    isOver.open()
    await changing.value
    return Finding(
      defect: wrong.count > 0, "\(wrong.count) of \(snapshots.count) snapshots in the wrong order")
  }

  static let m6 = Row("M6") {
    let hub = DelegateHub()
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self)
    let (begun, end) = (Gate(), Gate())
    let call = Task {
      await milliseconds {
        _ = await hub.vote(
          Listener.self, within: .milliseconds(200), absent: .counts(as: false)
        ) { _ in
          begun.open()
          await withTaskCancellationHandler {
            await end.pass()
          } onCancel: {
            Thread.sleep(forTimeInterval: 1)
          }
          return true
        }
      }
    }
    await begun.pass()
    await onThreads(1) { _ in call.cancel() }
    let time = await call.value
    end.open()
    withExtendedLifetime(voter) {}
    return Finding(
      defect: time > 600,
      """
      a vote within 200 ms whose caller is cancelled, and whose voter's cancellation handler blocks for \
      1 s, took \(time.short) ms
      """)
  }

  static let m7 = Row("M7") {
    let hub = DelegateHub()
    let end = Gate()
    let asked = Probe()
    hub.subscribe(asked, to: Listener.self, priority: 1)
    let before = megabytes()
    for _ in 0..<200 {
      let passing = Probe.many(1000)
      let subscriptions = passing.map { hub.subscribe($0, to: Listener.self) }
      _ = await hub.vote(Listener.self, by: .anyone) { probe in
        if probe === asked { Task { await end.pass() } }
        return probe === asked
      }
      for subscription in subscriptions { subscription.cancel() }
    }
    _ = await hub.subscriberCount(of: Listener.self)
    await pause(milliseconds: 200)
    let growth = megabytes() - before
    end.open()
    withExtendedLifetime(asked) {}
    return Finding(
      defect: growth > 15,
      """
      200 tasks that handlers left behind keep \(growth.short) MB, 1,000 subscribers having come and gone \
      beside each
      """)
  }

  static let m8 = Row("M8") {
    func rate(threads: Int) async -> Double {
      let count = 320_000
      let hub = DelegateHub()
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self)
      let time = await milliseconds {
        await onThreads(threads) { _ in
          for number in 0..<(count / threads) { hub.notify(Listener.self) { $0.take(number) } }
        }
      }
      await hub.drain()
      return Double(count) / time / 1000
    }
    _ = await rate(threads: 1)
    let (alone, many) = (await rate(threads: 1), await rate(threads: 16))
    return Finding(
      defect: many < 0.35 * alone,
      "\(alone.short) million notify a second by one thread, \(many.short) by 16")
  }

  static let m9 = Row("M9") {
    let hub = DelegateHub()
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self)
    func vote(_ count: Int) async {
      for _ in 0..<count {
        _ = await hub.vote(Listener.self, within: .seconds(600), absent: .abstains) { _ in true }
      }
    }
    await vote(1000)
    let before = megabytes()
    await vote(20_000)
    await pause(milliseconds: 200)
    let growth = megabytes() - before
    withExtendedLifetime(voter) {}
    return Finding(
      defect: growth > 2, "20,000 votes within 600 s that are over have left \(growth.short) MB")
  }
}

/// How long a notify of another protocol takes at most, while a subscriber for which so many wait gets a
/// limit.
private func longestNotify(beside count: Int) async -> Double {
  let hub = DelegateHub()
  let (slow, other) = (Probe(), Probe())
  let (end, isOver) = (Gate(), Gate())
  hub.subscribe(slow, to: Listener.self)
  hub.subscribe(other, to: Bystander.self)
  for _ in 0..<count { hub.notify(Listener.self) { _ in await end.pass() } }
  let longest = Mutex(Duration.zero)
  await onThreads(2) { index in
    if index == 0 {
      Thread.sleep(forTimeInterval: 0.02)
      hub.subscribe(slow, to: Listener.self, mailbox: .dropOldest(limit: 10))
      return isOver.open()
    }
    while !isOver.isOpen {
      let time = ContinuousClock().measure { hub.notify(Bystander.self) { _ in } }
      longest.withLock { $0 = max($0, time) }
    }
  }
  end.open()
  await hub.drain()
  withExtendedLifetime((slow, other)) {}
  return longest.withLock { $0 / .milliseconds(1) }
}

/// Notifications of which each posts another one, so that something always waits.
private final class Posts: Sendable {
  let (handled, wrong, right) = (Counter(), Counter(), Counter())
  let end = Gate()
  private let posted = Counter()
  /// How many were posted when the executor changed.
  private let changedAt = Atomic<Int>(.max)
  private let hub: DelegateHub
  private let isOnFormer: @Sendable () -> Bool

  init(_ hub: DelegateHub, _ isOnFormer: @escaping @Sendable () -> Bool) {
    self.hub = hub
    self.isOnFormer = isOnFormer
  }

  func change() { changedAt.store(posted.count, ordering: .sequentiallyConsistent) }

  func post(again: Bool = true) {
    let number = posted.add()
    hub.notify(Listener.self) { _ in
      self.handled.add()
      if number > self.changedAt.load(ordering: .sequentiallyConsistent) {
        (self.isOnFormer() ? self.wrong : self.right).add()
      }
      if again, !self.end.isOpen { self.post() }
    }
  }
}
