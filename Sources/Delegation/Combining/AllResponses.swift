/// Gathers all responses, in the order of the subscriptions.
///
/// The outcome has the order of the subscriptions, whatever the order in which the responses come.
/// Absentees are left out. It is decided when all have answered or are missing, and never before.
///
/// **Nobody to ask:** an empty array, decided before anybody answers.
///
/// - Complexity: O(1) amortised time for each response, O(*n*) space.
@frozen
public struct AllResponses<Response: Sendable>: Combiner {
  @usableFromInline
  var fold = InOrderFold<[Response], Response>([])

  /// Makes a rule that keeps everything.
  @inlinable
  public init() {}

  /// Decides for an empty array if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> [Response]? {
    if count == 0 { return [] }
    fold.outcome.reserveCapacity(count)
    return nil
  }

  /// Puts the response in its place.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> [Response]? {
    fold.place(response, at: position) { $0.append($1) }
    return nil
  }

  /// Leaves out the absentee.
  @inlinable
  public mutating func receiveNothing(from position: Int) -> [Response]? {
    fold.place(nil, at: position) { $0.append($1) }
    return nil
  }

  /// Gives the responses.
  @inlinable
  public mutating func finish() -> [Response] { fold.outcome }
}

extension Combiner {
  /// Gathers all responses in the order of the subscriptions; see ``AllResponses``.
  ///
  /// **Nobody to ask:** an empty array.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func all<R>() -> Self where Self == AllResponses<R> { Self() }
}
