/// What a call counts for a subscriber whose handler throws or is late.
///
/// A vote that fails closed counts them as a "no", one that fails open lets them abstain:
///
/// ```swift
/// let isAllowed = await hub.vote(
///   Gatekeeper.self, within: .milliseconds(50), absent: .counts(as: false)
/// ) { try await $0.mayEnter(guest) }
/// ```
public enum Absence<Response: Sendable>: Sendable {
  /// The combiner is told of an absentee, as if the subscriber were not there.
  case abstains
  /// The combiner is given this response in its place.
  case counts(as: Response)

  /// The answer that is counted.
  @inlinable
  func answer<Failure: Error>(or failure: Failure.Type) -> Answer<Response, Failure> {
    switch self {
    case .abstains: .absence
    case .counts(let response): .response(response)
    }
  }
}
