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
}
