extension DelegateHub {
  /// What a call counts for a subscriber whose handler throws or is late.
  ///
  /// A vote that fails open lets them abstain. A vote that fails closed counts them as a "no", and also says how
  /// many must have answered, because what has died or was unsubscribed says nothing:
  ///
  /// ```swift
  /// let isAllowed = await hub.vote(
  ///   Gatekeeper.self, by: .unanimous(ofAtLeast: 2), within: .milliseconds(50),
  ///   absent: .counts(as: false)
  /// ) { try await $0.mayEnter(guest) }
  /// ```
  public struct Absence<Response: Sendable>: Sendable, CustomStringConvertible {
    /// The response that is counted; `nil` if the subscriber abstains.
    @usableFromInline
    let substitute: Response?

    /// The combiner learns that the subscriber is absent, as if it were not there.
    public static var abstains: Self { Self(substitute: nil) }

    /// The combiner is given a response in the subscriber's place.
    ///
    /// A combiner takes it for an answer, except that `ofAtLeast:` does not count it as one.
    ///
    /// - Parameter response: what to count.
    /// - Returns: the rule for absentees.
    public static func counts(as response: Response) -> Self { Self(substitute: response) }

    /// What is counted, in words.
    public var description: String {
      substitute.map { "counts as \($0)" } ?? "abstains"
    }

    /// The answer that is counted.
    @inlinable
    func answer<Failure: Error>() -> Answer<Response, Failure> {
      substitute.map(Answer.substitute) ?? .absence
    }
  }
}
