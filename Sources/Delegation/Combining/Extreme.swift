/// Finds the smallest or the largest response; ``Combiner/min()`` and ``Combiner/max()`` make one.
///
/// If several are equal, it takes the first of them in the order of the subscriptions. It is decided when all have
/// answered or are missing, and never before. If all are missing, it is `nil`. For responses that have no order, such
/// as a floating-point NaN, the outcome may depend on which came first.
///
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time for each response, O(1) space.
@frozen
public struct Extreme<Response: Comparable & Sendable>: Combiner {
  @usableFromInline
  let isLargest: Bool
  /// The best response so far; of equal ones, the one with the lowest position.
  @usableFromInline
  var leader: Response?
  @usableFromInline
  var leadersPosition = 0

  @inlinable
  init(isLargest: Bool) { self.isLargest = isLargest }

  /// Decides `nil` if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Response?? { count == 0 ? .some(nil) : nil }

  /// Keeps the response if it is the best so far.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Response?? {
    if let leader {
      let isEarlier = position < leadersPosition
      guard isEarlier ? !beats(leader, response) : beats(response, leader) else { return nil }
    }
    leader = response
    leadersPosition = position
    return nil
  }

  /// Gives the best response.
  @inlinable
  public mutating func finish() -> Response? { leader }

  @inlinable
  func beats(_ one: Response, _ other: Response) -> Bool {
    isLargest ? one > other : one < other
  }
}

extension Combiner {
  /// Finds the smallest response; see ``Extreme``.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func min<R>() -> Self where Self == Extreme<R> { Self(isLargest: false) }

  /// Finds the largest response; see ``Extreme``.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func max<R>() -> Self where Self == Extreme<R> { Self(isLargest: true) }
}
