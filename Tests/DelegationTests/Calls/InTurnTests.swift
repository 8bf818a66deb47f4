import Delegation
import Testing

/// The two calls that ask one after another, with what they share.
@Suite("askInTurn and pass", .inTurn)
struct InTurnTests {
  private let stage = Stage { $0.onIncident = { _ in } }

  @Test(
    "each is asked when the one before has returned, by priority",
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
    let first = stage.start { await $0[Listener.self].askAll(within: duration, handle) }
    // The gates of those to come are open already: nobody is ahead of its turn all the same.
    for number in [0, 2, 3] { stage.open(gates[number]) }
    #expect(events.history == ["1 begins"] && first.result == nil)
    stage.open(gates[1])
    let order = ["1", "3", "0", "2"].flatMap { ["\($0) begins", "\($0) ends"] }
    #expect(events.clear() == order && first.result == .some(nil))
    let pass = stage.perform { await $0[Listener.self].passNames(within: duration, handle) }
    #expect(events.history == order && pass == "1302")
    withExtendedLifetime(probes) {}
  }

  @Test("an answer, or a nil of pass, ends it, and nobody after is asked", arguments: 0..<5)
  func stops(place: Int) {
    let probes = stage.cast(5)
    let ask: @Sendable (any Listener) -> String? = { probe in
      probe.log.record(1)
      return Int(probe.name)! >= place ? "answer of \(probe.name)" : nil
    }
    let pass: @Sendable (any Listener, String) -> String? = { probe, value in
      probe.log.record(1)
      return Int(probe.name)! == place ? nil : value
    }
    let calls: [@Sendable (Delegates<any Listener>) async -> String?] = [
      { await $0.askInTurn { ask($0) } },
      { await $0.askInTurn(within: .seconds(1), absent: .abstains) { ask($0) } },
      { await $0.pass("value") { pass($0, $1) } },
      { await $0.pass("value", within: .seconds(1), absent: .abstains) { pass($0, $1) } },
    ]
    for (number, call) in calls.enumerated() {
      let answer = stage.perform { await call($0[Listener.self]) }
      #expect(answer == .some(number < 2 ? "answer of \(place)" : nil))
      let counts = probes.map(\.log.history.count)
      #expect(counts == (0..<5).map { $0 <= place ? number + 1 : 0 })
    }
  }

  @Test("each gets what the one before returned; the nil of an optional value is no stop")
  func handedOn() {
    let got = Recorder<String>()
    stage.cast(4)
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
    #expect(errors == ["0", "0"] && probes.map(\.log.history) == [[1], [1], []])
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
}

extension Delegates where P == any Listener {
  /// Asks all in turn, of whom none answers.
  fileprivate func askAll(
    within limit: Duration?, _ handle: @escaping @Sendable (any Listener) async -> Void
  ) async -> Int? {
    let ask: @Sendable (any Listener) async -> Int? = {
      await handle($0)
      return nil
    }
    guard let limit else { return await askInTurn { await ask($0) } }
    return await askInTurn(within: limit, absent: .abstains) { await ask($0) }
  }

  /// Passes a text to which each adds its name.
  fileprivate func passNames(
    within limit: Duration?, _ handle: @escaping @Sendable (any Listener) async -> Void
  ) async -> String? {
    let pass: @Sendable (any Listener, String) async -> String? = {
      await handle($0)
      return $1 + $0.name
    }
    guard let limit else { return await self.pass("") { await pass($0, $1) } }
    return await self.pass("", within: limit, absent: .counts(as: "late")) { await pass($0, $1) }
  }
}
