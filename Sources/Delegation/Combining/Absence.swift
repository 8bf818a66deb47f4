extension DelegateHub {
  /// What a call counts for a subscriber whose handler throws or is late.
  ///
  /// A vote that fails closed counts them as a "no". A vote that fails open lets them abstain. For
  /// example:
  ///
  /// ```swift
  /// let isAllowed = await hub.vote(
  ///   Gatekeeper.self, within: .milliseconds(50), absent: .counts(as: false)
  /// ) { try await $0.mayEnter(guest) }
  /// ```
  public struct Absence<Response: Sendable>: Sendable, CustomStringConvertible {
    @usableFromInline
    enum Code: Sendable {
      case abstains
      case counts(Response)
    }

    @usableFromInline
    let code: Code

    init(code: Code) {
      self.code = code
    }

    /// The combiner learns that the subscriber is absent, as if it were not there.
    public static var abstains: Self { Self(code: .abstains) }

    /// The combiner is given a response in the subscriber's place.
    ///
    /// - Parameter response: what to count.
    /// - Returns: the rule for absentees.
    public static func counts(as response: Response) -> Self { Self(code: .counts(response)) }

    /// What is counted, in words.
    public var description: String {
      switch code {
      case .abstains: "abstains"
      case .counts(let response): "counts as \(response)"
      }
    }

    /// The answer that is counted.
    @inlinable
    func answer<Failure: Error>(or failure: Failure.Type) -> Answer<Response, Failure> {
      switch code {
      case .abstains: .absence
      case .counts(let response): .substitute(response)
      }
    }
  }
}
