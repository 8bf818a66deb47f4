import Delegation
import Testing

/// The two calls that ask one after another, with what they share.
@Suite("askInTurn and pass", .inTurn)
struct InTurnTests {
  private let stage = Stage { $0.onIncident = { _ in } }

  // MARK: In turn

  @Test(
    "each is asked when the one before has returned, in the order of priorities",
    arguments: [nil, Duration.seconds(1)])
  func oneAfterAnother(duration: Duration?) {
    let gates = (0..<4).map { _ in Gate() }
    let events = Recorder<String>()
    let probes = Probe.many(4)
    for (probe, priority) in zip(probes, [0, 5, -1, 5]) {
      stage.hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    let handle: @Sendable (any Listener) async -> Void = { probe in
      events.record("\(probe.name) begins")
      await gates[Int(probe.name)!].pass()
      events.record("\(probe.name) ends")
    }
    let first = stage.start { hub in
      if let duration {
        return await hub[Listener.self].askInTurn(within: duration, absent: .abstains) {
          await handle($0)
          return nil as Int?
        }
      }
      return await hub[Listener.self].askInTurn {
        await handle($0)
        return nil as Int?
      }
    }
    // The gates of those to come are open already: nobody is ahead of its turn all the same.
    for number in [0, 2, 3] { stage.open(gates[number]) }
    #expect(events.history == ["1 begins"])
    #expect(first.result == nil)
    stage.open(gates[1])
    let order = ["1", "3", "0", "2"].flatMap { ["\($0) begins", "\($0) ends"] }
    #expect(events.clear() == order)
    #expect(first.result == .some(nil))
    let pass = stage.perform { hub in
      if let duration {
        return await hub[Listener.self].pass("", within: duration, absent: .abstains) {
          await handle($0)
          return $1 + $0.name
        }
      }
      return await hub[Listener.self].pass("") {
        await handle($0)
        return $1 + $0.name
      }
    }
    #expect(events.history == order)
    #expect(pass == "1302")
    withExtendedLifetime(probes) {}
  }

  @Test(
    "never are two asked at once, on the pool and on executors of their own",
    arguments: [1, 2, 100])
  func neverTwo(count: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(count)
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, on: number.isMultiple(of: 3) ? own : nil)
    }
    let events = Recorder<String>()
    let handle: @Sendable (any Listener) async -> Void = { probe in
      events.record("\(probe.name) begins")
      await Task.yield()
      events.record("\(probe.name) ends")
    }
    let all = hub[Listener.self]
    for isTimed in [false, true] {
      let answer =
        isTimed
        ? await all.askInTurn(within: .seconds(600), absent: .abstains) {
          await handle($0)
          return nil as Int?
        }
        : await all.askInTurn {
          await handle($0)
          return nil as Int?
        }
      #expect(answer == nil)
      #expect(events.clear() == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
      let passed =
        isTimed
        ? await all.pass("", eachWithin: .seconds(600), absent: .abstains) {
          await handle($0)
          return $1 + $0.name
        }
        : await all.pass("") {
          await handle($0)
          return $1 + $0.name
        }
      #expect(passed == probes.map(\.name).joined())
      #expect(events.clear() == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
    }
  }

  @Test("an answer, or a nil of pass, ends it, and nobody after is asked", arguments: 0..<5)
  func stops(place: Int) {
    let probes = stage.cast(5)
    let calls: [@Sendable (Delegates<any Listener>) async -> String] = [
      { all in
        await all.askInTurn { probe in
          probe.log.record(1)
          return Int(probe.name)! >= place ? "answer of \(probe.name)" : nil
        } ?? "none"
      },
      { all in
        await all.askInTurn(within: .seconds(1), absent: .abstains) { probe in
          probe.log.record(1)
          await Task.yield()
          return Int(probe.name)! >= place ? "answer of \(probe.name)" : nil
        } ?? "none"
      },
      { all in
        await all.pass("value") { probe, value in
          probe.log.record(1)
          return Int(probe.name)! == place ? nil : value
        } ?? "none"
      },
      { all in
        await all.pass("value", within: .seconds(1), absent: .abstains) { probe, value in
          probe.log.record(1)
          await Task.yield()
          return Int(probe.name)! == place ? nil : value
        } ?? "none"
      },
    ]
    for (number, call) in calls.enumerated() {
      let answer = stage.perform { await call($0[Listener.self]) }
      #expect(answer == (number < 2 ? "answer of \(place)" : "none"))
      let counts = probes.map(\.log.history.count)
      #expect(counts == (0..<5).map { $0 <= place ? number + 1 : 0 })
    }
  }

  @Test(
    "each gets what the one before returned; an optional value may be passed, and its nil is no stop"
  )
  func handedOn() {
    let got = Recorder<String>()
    let probes = stage.cast(4)
    let value = stage.perform { hub in
      await hub[Listener.self].pass("value") { probe, value in
        got.record(value)
        return probe.name == "2" ? value : value + " " + probe.name
      }
    }
    #expect(value == "value 0 1 3")
    #expect(got.history == ["value", "value 0", "value 0 1", "value 0 1"])
    let optional = stage.perform { hub in
      await hub[Listener.self].pass(Int?.some(1)) { probe, value -> Int?? in
        probe.name == "0" ? .some(nil) : .some(value == nil ? 7 : 8)
      }
    }
    #expect(optional == 8)
    withExtendedLifetime(probes) {}
  }

  @Test("those who die or are removed on the way are skipped, those who come on it not asked")
  func changesOnTheWay() {
    let gate = Gate()
    let probes = stage.cast(2)
    var mortal: Probe? = Probe("mortal")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    let (last, newcomer) = (Probe("last"), Probe("newcomer"))
    stage.hub.subscribe(last, to: Listener.self)
    let calls = [
      stage.start { hub in
        await hub[Listener.self].pass("value") { probe, value in
          await gate.pass()
          return value + " " + probe.name
        }
      },
      stage.start { hub in
        await hub[Listener.self].pass("value", within: .seconds(1), absent: .counts(as: "late")) {
          probe, value in
          await gate.pass()
          return value + " " + probe.name
        }
      },
    ]
    stage.hub.unsubscribe(probes[1])
    mortal = nil
    stage.hub.subscribe(newcomer, to: Listener.self)
    stage.open(gate)
    #expect(calls.map(\.result) == ["value 0 last", "value 0 last"])
    withExtendedLifetime(last) {}
  }

  @Test("an error ends the call; an answer before it is the outcome")
  func errors() {
    let probes = stage.cast(3)
    let errors = stage.perform { hub in
      var errors: [String] = []
      do throws(Refusal) {
        _ = try await hub[Listener.self].pass("") { probe, value throws(Refusal) in
          probe.log.record(1)
          if probe.name == "1" { throw Refusal(reason: value) }
          return value + probe.name
        }
      } catch {
        errors.append(error.reason)
      }
      let answer = try? await hub[Listener.self].askInTurn { probe in
        if probe.name == "1" { throw Refusal() }
        return probe.name
      }
      return errors + [answer ?? "none"]
    }
    #expect(errors == ["0", "0"])
    #expect(probes.map(\.log.history) == [[1], [1], []])
  }

  @Test("handlers see when the caller is cancelled, and the call goes on")
  func cancelled() {
    let gate = Gate()
    let seen = Recorder<Bool>()
    let probes = stage.cast(3)
    let first = stage.start { hub in
      await hub[Listener.self].askInTurn { probe -> Int? in
        seen.record(Task.isCancelled)
        if probe.name == "1" { await gate.pass() }
        seen.record(Task.isCancelled)
        return nil
      }
    }
    let timed = stage.start { hub in
      await hub[Listener.self].pass([Bool](), within: .seconds(1), absent: .abstains) {
        probe, value in
        if probe.name == "1" { await gate.pass() }
        return value + [Task.isCancelled]
      }
    }
    for cancel in [first.cancel, timed.cancel] { cancel() }
    stage.run()
    #expect(seen.history == [false, false, false])
    stage.open(gate)
    #expect(seen.history == [false, false, false, true, true, true])
    #expect(first.result == .some(nil))
    #expect(timed.result == [false, true, true])
    withExtendedLifetime(probes) {}
  }

  @Test("a handler may drain, end its own subscription and wait, ask and pass")
  func reentrancy() {
    let (own, other) = (Probe("own"), Probe("other"))
    let subscription = stage.hub.subscribe(own, to: Listener.self)
    stage.hub.subscribe(other, to: Listener.self)
    let answer = stage.perform { hub in
      await hub[Listener.self].pass(["start"]) { probe, value -> [String]? in
        guard probe.name == "own" else { return value + [probe.name] }
        hub[Listener.self].notify { $0.log.record(7) }
        let drained = await hub.drain().subscribers.map(\.running) == [1]
        let voted = await hub[Listener.self].vote { await $0.log.history(of: 1) == [7] }
        await subscription.cancelAndWait()
        let inner = await hub[Listener.self].askInTurn { $0.name }
        let passed = await hub[Listener.self].pass("v") { $1 + $0.name }
        return value + ["\(drained)", "\(voted)", inner ?? "", passed ?? ""]
      }
    }
    #expect(answer == ["start", "true", "true", "other", "vother", "other"])
    #expect(own.log.history == [7])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test(
    "a call that waits for the hub's executor is seen by a drain, and one that reaches nobody does not need it"
  )
  func standstill() async {
    let executor = ManualExecutor()
    let hub = DelegateHub(.init(executor: executor))
    #expect(await hub[Listener.self].pass(1) { _, value in value + 1 } == 1)
    #expect(await hub[Listener.self].askInTurn { _ -> Int? in 1 } == nil)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let results = Recorder<Int?>()
    let call = Task {
      results.record(await hub[Listener.self].pass(1) { $1 + $0.name.count })
    }
    while executor.pendingJobs == 0 { await Task.yield() }
    let left = await hub.drain(within: .zero)
    #expect(!left.isEmpty)
    // The hub itself does not stand still: another question meets its deadline.
    #expect(
      await hub[Listener.self].vote(within: .milliseconds(10), absent: .counts(as: false)) { _ in
        true
      } == false)
    while results.count == 0 {
      executor.run()
      await Task.yield()
    }
    await call.value
    #expect(results.history == [6])
    executor.run()
    #expect(await hub.drain(within: .zero).isEmpty)
    withExtendedLifetime(probe) {}
  }
}
