@testable import Delegation

/// A hub that writes down its incidents.
final class IncidentScene: Sendable {
  let stage: Stage
  let incidents = Recorder<DelegateHub.Incident>()
  var hub: DelegateHub { stage.hub }
  /// Each in short: what, in which call, at which place.
  var told: [String] { incidents.history.map { "\($0.kind) \($0.call) \($0.site)" } }

  init() {
    stage = Stage { [incidents] in $0.onIncident = { incidents.record($0) } }
  }

  /// Subscribes that many, at places with their numbers.
  func cast(_ count: Int) -> [Probe] {
    let probes = Probe.many(count)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, fileID: "site", line: UInt(number))
    }
    return probes
  }
}
