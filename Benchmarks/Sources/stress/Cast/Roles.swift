/// Who is told of events.
protocol Listener: AnyObject, Sendable {
  /// Learns of an event in passing.
  ///
  /// - Parameter event: which one.
  /// - Throws: a ``Refusal`` when in the mood.
  func saw(_ event: Event) throws

  /// Learns of an event and takes its time.
  ///
  /// - Parameter event: which one.
  /// - Throws: a ``Refusal`` when in the mood.
  func heard(_ event: Event) async throws
}

/// Who is asked whether an event may be.
protocol Gatekeeper: AnyObject, Sendable {
  /// Answers whether an event is allowed, which all see alike.
  ///
  /// - Parameter event: which one.
  /// - Returns: whether it is not forbidden.
  /// - Throws: a ``Refusal`` when in the mood.
  func allows(_ event: Event) async throws -> Bool
}

/// What a handler throws.
struct Refusal: Error {}
