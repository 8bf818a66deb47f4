@testable import Delegation

extension DelegateHub.Configuration {
  /// Tells of the incidents of one kind.
  mutating func on(
    _ kind: DelegateHub.Incident.Kind, _ tell: @escaping @Sendable (DelegateHub.Incident) -> Void
  ) {
    onIncident = { if $0.kind == kind { tell($0) } }
  }
}

extension DelegateHub.Incident {
  /// What the handler gave as its reason.
  var reason: String {
    error.map { ($0 as? Refusal)?.reason ?? "\($0)" } ?? ""
  }
}
