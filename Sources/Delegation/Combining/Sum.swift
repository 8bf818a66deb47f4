/// Adds up the responses.
///
/// They are added in the order of the subscriptions, whatever the order in which they come. So a
/// floating-point sum is the same each time. Absentees add nothing. The sum is decided when all
/// have answered or are missing, and never before. A response that comes before its turn is kept
/// until those before it have come.
///
/// **Nobody to ask:** zero, decided before anybody answers.
///
/// - Complexity: O(1) amortised time for each response, O(*k*) space for *k* responses that come
///   before their turn.
@frozen
public struct Sum<Response: AdditiveArithmetic & Sendable>: Combiner {
  @usableFromInline
  var fold = InOrderFold<Response, Response>(.zero)

  /// Makes a rule that adds.
  @inlinable
  public init() {}

  /// Decides for zero if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Response? { count == 0 ? .zero : nil }

  /// Adds the response in its turn.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Response? {
    fold.place(response, at: position) { $0 += $1 }
    return nil
  }

  /// Skips the absentee.
  @inlinable
  public mutating func receiveNothing(from position: Int) -> Response? {
    fold.place(nil, at: position) { $0 += $1 }
    return nil
  }

  /// Gives the sum.
  @inlinable
  public mutating func finish() -> Response { fold.outcome }
}

extension Combiner {
  /// Adds up the responses in the order of the subscriptions; see ``Sum``.
  ///
  /// **Nobody to ask:** zero.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func sum<R>() -> Self where Self == Sum<R> { Self() }
}
