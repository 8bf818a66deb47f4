import Delegation
import Foundation
import Synchronization

extension Row {
  static let l1 = Row("L1") {
    let hub = DelegateHub()
    let probes = Probe.many(8)
    let cancelled = Counter()
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    _ = await hub.vote(Listener.self, within: .seconds(60), absent: .abstains) { probe in
      if probe.name == 0 {
        withUnsafeCurrentTask { $0?.cancel() }
      } else if Task.isCancelled {
        cancelled.add()
      }
      return true
    }
    withExtendedLifetime(probes) {}
    return Finding(
      defect: cancelled.count > 0,
      "\(cancelled.count) of 7 others were cancelled by a voter that cancels its own task")
  }

  static let l2 = Row("L2") {
    let hub = DelegateHub()
    let busy = Busy()
    let (first, removed) = (Probe(1), Probe(2))
    hub.subscribe(first, to: Listener.self)
    let subscription = hub.subscribe(removed, to: Listener.self, on: busy)
    let outcome = await hub.vote(
      Listener.self, within: .milliseconds(200), absent: .counts(as: false)
    ) { _ in
      await eventually(within: 0.1) { busy.count > 0 }
      subscription.cancel()
      return true
    }
    busy.run()
    await hub.drain()
    withExtendedLifetime((first, removed)) {}
    return Finding(
      defect: !outcome,
      "a subscriber that was removed before it was asked \(outcome ? "has no vote" : "votes no")")
  }

  static let l3 = Row("L3") {
    let hub = DelegateHub()
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self)
    let outcome = await hub.vote(
      Listener.self, within: .seconds(Int64.max), absent: .counts(as: false)
    ) { _ in
      await pause(milliseconds: 50)
      return true
    }
    withExtendedLifetime(voter) {}
    return Finding(defect: !outcome, "a vote within .seconds(.max) is decided by its voter")
  }

  static let l4 = Row("L4") {
    guard #available(macOS 26, *) else { return Finding(defect: false, "not on this system") }
    let hub = DelegateHub()
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let (begun, raised, end) = (Gate(), DispatchSemaphore(value: 0), Gate())
    let seen = Counter()
    let call = Task.detached(priority: .low) {
      await hub.vote(Listener.self) { probe in
        if probe.name == 0 {
          begun.open()
          // In the caller's place, which is raised meanwhile.
          raised.wait()
        }
        await end.pass()
        if Task.currentPriority >= .high { seen.add() }
        return true
      }
    }
    await begun.pass()
    call.escalatePriority(to: .high)
    raised.signal()
    await pause(milliseconds: 200)
    end.open()
    _ = await call.value
    withExtendedLifetime(probes) {}
    return Finding(
      defect: seen.count < 2,
      "\(seen.count) of 2 voters were raised with their caller, which the first one ran in place of"
    )
  }

  static let l5 = Row("L5") {
    func early(within duration: Duration?) async -> Int {
      let early = Counter()
      for _ in 0..<50 {
        let hub = DelegateHub()
        let probes = Probe.many(2)
        let answered = Gate()
        for probe in probes { hub.subscribe(probe, to: Listener.self) }
        _ = await hub.collect(Listener.self, within: duration) { probe in
          if probe.name == 0 {
            await hub.drain()
            if !answered.isOpen { early.add() }
          } else {
            await pause(milliseconds: 2)
            answered.open()
          }
        }
        withExtendedLifetime(probes) {}
      }
      return early.count
    }
    let (without, with) = (await early(within: nil), await early(within: .seconds(60)))
    return Finding(
      defect: without > 0 || with > 0,
      """
      drain() from a voter does not wait for the other one in \(without) of 50 calls without a deadline, \
      in \(with) of 50 with one
      """)
  }

  static let l6 = Row("L6") {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let queue = DispatchQueue(label: "the caller's")
    let place = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: place, value: true)
    let misplaced = Counter()
    await Task(executorPreference: DispatchQueueExecutor(queue)) {
      _ = await hub.vote(Listener.self) { _ in
        if DispatchQueue.getSpecific(key: place) == true { misplaced.add() }
        return true
      }
    }.value
    withExtendedLifetime(probes) {}
    return Finding(
      defect: misplaced.count > 0, "\(misplaced.count) of 3 voters ran on their caller's queue")
  }

  static let l7 = Row("L7") {
    let hub = DelegateHub()
    let probe = Probe()
    let (begun, end) = (Gate(), Gate())
    let others = Counter()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub.notify(Listener.self) { _ in
      begun.open()
      await end.pass()
    }
    await begun.pass()
    subscription.cancel()
    hub.subscribe(probe, to: Listener.self)
    hub.notify(Listener.self) { _ in others.add() }
    await pause(milliseconds: 200)
    let together = others.count
    end.open()
    await hub.drain()
    withExtendedLifetime(probe) {}
    return Finding(
      defect: together > 0,
      """
      an object that is cancelled in its handler, and subscribed again, handled \(together) notifications \
      beside the one that still ran
      """)
  }

  static let l8 = Row("L8") {
    // The comparing of ids is the user's code: here another id is given at that moment.
    let hub = DelegateHub()
    let (renamed, newcomer) = (Probe(1), Probe(2))
    hub.subscribe(renamed, to: Listener.self, id: Name("a"))
    Name.beforeComparing { hub.subscribe(renamed, to: Listener.self, id: Name("b")) }
    hub.unsubscribe(id: Name("a"))
    let afterUnsubscribing = await hub.subscriberCount(of: Listener.self)
    hub.unsubscribe(renamed)
    hub.subscribe(renamed, to: Listener.self, id: Name("a"))
    Name.beforeComparing { hub.subscribe(renamed, to: Listener.self, id: Name("b")) }
    hub.subscribe(newcomer, to: Listener.self, id: Name("a"))
    let afterTakeOver = await hub.subscriberCount(of: Listener.self)
    withExtendedLifetime((renamed, newcomer)) {}
    return Finding(
      defect: afterUnsubscribing != 1 || afterTakeOver != 2,
      """
      who takes the id b while a is unsubscribed: \(afterUnsubscribing) subscribed; while another takes a: \
      \(afterTakeOver) subscribed
      """)
  }

  static let l9 = Row("L9") {
    let hub = DelegateHub()
    let (older, newer) = (Probe(1), Probe(2))
    let end = Gate()
    hub.subscribe(older, to: Listener.self, id: "a")
    for _ in 0..<10 {
      hub.notify(Listener.self) {
        await end.pass()
        $0.take(0)
      }
    }
    hub.subscribe(newer, to: Listener.self)
    hub.subscribe(newer, to: Listener.self, id: "a")
    end.open()
    await hub.drain()
    return Finding(
      limit:
        """
        of 10 that waited \(older.count + newer.count) were handled after a take-over by one that was \
        subscribed already
        """)
  }
}

/// An executor that has other work to do until it is told to run its jobs.
private final class Busy: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]?>([])

  var count: Int { jobs.withLock { $0?.count ?? 0 } }

  func enqueue(_ job: UnownedJob) {
    let isBusy = jobs.withLock { jobs in
      jobs?.append(job)
      return jobs != nil
    }
    if !isBusy { run(job) }
  }

  func run() {
    let waiting = jobs.withLock { jobs in
      defer { jobs = nil }
      return jobs ?? []
    }
    for job in waiting { run(job) }
  }

  private func run(_ job: UnownedJob) {
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// An id that does something before it is compared, once.
private struct Name: Hashable {
  private static let action = Mutex<(@Sendable () -> Void)?>(nil)
  private let text: String

  init(_ text: String) { self.text = text }

  static func beforeComparing(_ body: @escaping @Sendable () -> Void) {
    action.withLock { $0 = body }
  }

  static func == (one: Name, other: Name) -> Bool {
    let isEqual = one.text == other.text
    let action = action.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
    return isEqual
  }

  /// All collide.
  func hash(into hasher: inout Hasher) { hasher.combine(0) }
}
