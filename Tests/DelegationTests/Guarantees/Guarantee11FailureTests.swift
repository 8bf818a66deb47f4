import Testing

@testable import Delegation

@Suite("Guarantee 11: failures", .inTurn)
struct Guarantee11FailureTests {
  private enum Veto: Error, Equatable {
    case by(String)
  }

  @Test("what a voter throws is rethrown with its own type")
  func typed() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    do {
      _ = try await hub[Listener.self].vote() { probe async throws(Veto) in
        if probe.name == "1" { throw Veto.by(probe.name) }
        return true
      }
      Issue.record("nothing was thrown")
    } catch {
      // The compiler knows the type.
      let veto: Veto = error
      #expect(veto == .by("1"))
    }
    do {
      _ = try await hub[Listener.self].ask(combining: .all()) { probe async throws(Veto) in
        if probe.name == "2" { throw Veto.by(probe.name) }
        return probe.name
      }
      Issue.record("nothing was thrown")
    } catch {
      let veto: Veto = error
      #expect(veto == .by("2"))
    }
  }

  @Test("a question that throws any error rethrows any, and one that throws none needs no try")
  func untypedAndNone() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    do {
      _ = try await hub[Listener.self].vote() { probe in
        try check(probe)
        return true
      }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error as? Veto == .by("probe"))
    }
    let outcome: Bool = await hub[Listener.self].vote() { _ in true }
    #expect(outcome)
    let answers: [String] = await hub[Listener.self].ask(combining: .all()) { $0.name }
    #expect(answers == ["probe"])
  }

  @Test("the first error returns while the others hang, and cancels them")
  func firstError() async {
    let hub = DelegateHub()
    let gate = Gate()
    let cancelled = Recorder<String>()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    do {
      _ = try await hub[Listener.self].ask(combining: .all()) { probe async throws(Veto) in
        if probe.name == "4" {
          await gate.arrivals(9)
          throw Veto.by(probe.name)
        }
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.record(probe.name)
        }
        throw Veto.by("late \(probe.name)")
      }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error == .by("4"))
    }
    #expect(await cancelled.history(of: 9).count == 9)
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("after the first error nobody else is asked")
  func unbegun() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let asked = Recorder<String>()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    _ = executor.start {
      await #expect(throws: Veto.by("2")) {
        _ = try await hub[Listener.self].vote() { probe in
          asked.record(probe.name)
          if probe.name == "2" { throw Veto.by(probe.name) }
          return true
        }
      }
    }
    #expect(asked.history == ["0", "1", "2"])
  }

  @Test("an error that comes after the outcome is fixed is nobody's")
  func lateError() async throws {
    let failures = Recorder<String>()
    let hub = makeHub(reportingTo: failures)
    let gate = Gate()
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let outcome = try await hub[Listener.self].vote() { probe in
      if probe.name == "1" { return false }
      await gate.pass()
      throw Veto.by(probe.name)
    }
    #expect(!outcome)
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(failures.history == [])
  }

  @Test("a failing handler of a notification is reported: who, subscribed where, and the error")
  func reported() async {
    let failures = Recorder<String>()
    let hub = makeHub(reportingTo: failures)
    let probes = Probe.many(3)
    var lines: [UInt] = []
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, id: "id \(probe.name)")
      lines.append(#line - 1)
    }
    hub[Listener.self].notify() { probe in
      probe.log.record(1)
      if probe.name == "1" { throw Veto.by("synchronous \(probe.name)") }
    }
    hub[Listener.self].notify() { probe in
      probe.log.record(2)
      await Task.yield()
      if probe.name == "1" { throw Veto.by("asynchronous \(probe.name)") }
    }
    hub[Listener.self].notify() { $0.log.record(3) }
    #expect(await hub.drain().isEmpty)
    #expect(probes.map(\.log.history) == [[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    let reports = failures.history
    #expect(reports.count == 2)
    for (report, kind) in zip(reports, ["synchronous", "asynchronous"]) {
      #expect(report.contains("Probe"))
      #expect(report.contains("id 1"))
      #expect(report.contains("Guarantee11FailureTests.swift:\(lines[1])"))
      #expect(report.contains("\(Veto.by("\(kind) 1"))"))
    }
  }

  @Test("each failure is reported, and the subscriber is told everything that comes after it")
  func everyFailure() async {
    let failures = Recorder<String>()
    let hub = makeHub(reportingTo: failures)
    let probes = Probe.many(4)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for number in 0..<10 {
      hub[Listener.self].notify() { probe in
        probe.log.record(number)
        throw Veto.by("\(probe.name)-\(number)")
      }
    }
    await hub.drain()
    #expect(probes.map(\.log.history) == Array(repeating: Array(0..<10), count: 4))
    #expect(failures.history.count == 40)
  }

  private func makeHub(reportingTo failures: Recorder<String>) -> DelegateHub {
    var configuration = DelegateHub.Configuration()
    configuration.on(.failed) { incident in
      failures.record(
        "\(incident.subscriber) | \(incident.site) | \(incident.error.map { "\($0)" } ?? "")")
    }
    return DelegateHub(configuration)
  }

  private func check(_ probe: any Listener) throws {
    throw Veto.by(probe.name)
  }
}
