import Delegation
import Testing

@Suite("Guarantee 11: failures", .inTurn)
struct Guarantee11Tests {
  private enum Veto: Error, Equatable {
    case by(String)
  }

  @Test("the first error, first in time, returns while the others hang, and cancels them")
  func firstError() async {
    let (hub, gate, cancelled) = (DelegateHub(), Gate(), Recorder<String>())
    hub.cast(10)
    do {
      _ = try await hub.listeners.ask(combining: .all()) { probe async throws(Veto) in
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

  @Test("after the first error nobody else is asked or called")
  func unbegun() {
    let (stage, asked) = (Stage(), Recorder<String>())
    stage.hub.cast(10)
    let refuse: @Sendable (any Listener) throws(Veto) -> Bool = { probe throws(Veto) in
      asked.record(probe.name)
      if probe.name == "2" { throw Veto.by(probe.name) }
      return true
    }
    let thrown = stage.perform { hub in
      do {
        return try await "\(hub.listeners.vote { p async throws(Veto) in try refuse(p) })"
      } catch {
        return "\(error)"
      }
    }
    #expect(thrown == "\(Veto.by("2"))" && asked.clear() == ["0", "1", "2"])
    #expect(throws: Veto.by("2")) { try stage.listeners.forEach { _ = try refuse($0) } }
    #expect(asked.history == ["0", "1", "2"])
  }

  @Test("errors that reach no caller are reported: who, subscribed where, in which call, and what")
  func reported() async {
    let reports = Recorder<DelegateHub.Incident>()
    let hub = DelegateHub(.init(onIncident: { reports.record($0) }))
    let probes = Probe.many(2)
    for probe in probes {
      hub.subscribe(
        probe, to: Listener.self, id: "id \(probe.name)", fileID: "site", line: UInt(probe.name)!)
    }
    let fail: @Sendable (any Listener, String) throws -> Void = { probe, reason in
      probe.log.record(1)
      if probe.name == "1" { throw Refusal(reason: reason) }
    }
    hub.listeners.notify { try fail($0, "synchronous") }
    hub.listeners.notify { probe in
      await Task.yield()
      try fail(probe, "asynchronous")
    }
    let outcome = await hub.listeners.notifyAndWait { try fail($0, "awaited") }
    #expect([outcome.addressed, outcome.handled, outcome.failed, outcome.missed] == [2, 1, 1, 0])
    #expect(!outcome.isHandled)
    _ = await hub.listeners.vote(absent: .abstains) { probe in
      try fail(probe, "asked")
      return true
    }
    await hub.drain()
    #expect(probes.map(\.log.count) == [4, 4], "an error affects nobody else")
    #expect(
      reports.history.map { "\($0.kind) in \($0.call) at \($0.site): \($0.reason)" }
        == [
          "failed in notify at site:1: synchronous", "failed in notify at site:1: asynchronous",
          "failed in notifyAndWait at site:1: awaited", "failed in vote at site:1: asked",
        ])
    for report in reports.history {
      #expect(report.subscriber.contains("Probe") && report.subscriber.contains("id 1"))
    }
    #expect(hub.counted == counts(handled: 3, failed: 3))
  }

  @Test("an error that comes after the outcome is fixed is nobody's")
  func lateError() async throws {
    let (gate, reports) = (Gate(), Recorder<String>())
    let hub = DelegateHub(.init(onIncident: { reports.record("\($0)") }))
    hub.cast(2)
    let outcome = try await hub.listeners.vote { probe in
      if probe.name == "1" { return false }
      await gate.pass()
      throw Veto.by(probe.name)
    }
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(!outcome && reports.history == [])
  }
}
