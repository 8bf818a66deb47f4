/// Finds the smallest response.
///
/// Of equal ones it keeps the first in the order of the subscriptions, whatever order they come in.
/// It is known once all have answered or are missing, and never decided before; `nil` if all are
/// missing. Responses that compare neither way, such as a floating-point NaN, have no such place,
/// and what comes out then may depend on who was faster.
///
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time for each response, O(1) space.
@frozen
public struct Minimum<Response: Comparable & Sendable>: Combiner {
  @usableFromInline
  var leader = Leader<Response>()

  /// Makes a rule that looks for the smallest.
  @inlinable
  public init() {}

  /// Decides `nil` if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Response?? { count == 0 ? .some(nil) : nil }

  /// Keeps the response if it is the smallest so far.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Response?? {
    leader.challenge(response, from: position) { $0 < $1 }
    return nil
  }

  /// Gives the smallest response.
  @inlinable
  public mutating func finish() -> Response? { leader.response }
}

/// Finds the largest response.
///
/// Of equal ones it keeps the first in the order of the subscriptions, whatever order they come in.
/// It is known once all have answered or are missing, and never decided before; `nil` if all are
/// missing. Responses that compare neither way, such as a floating-point NaN, have no such place,
/// and what comes out then may depend on who was faster.
///
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time for each response, O(1) space.
@frozen
public struct Maximum<Response: Comparable & Sendable>: Combiner {
  @usableFromInline
  var leader = Leader<Response>()

  /// Makes a rule that looks for the largest.
  @inlinable
  public init() {}

  /// Decides `nil` if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Response?? { count == 0 ? .some(nil) : nil }

  /// Keeps the response if it is the largest so far.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Response?? {
    leader.challenge(response, from: position) { $0 > $1 }
    return nil
  }

  /// Gives the largest response.
  @inlinable
  public mutating func finish() -> Response? { leader.response }
}

extension Combiner {
  /// Finds the smallest response; see ``Minimum``.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func min<R>() -> Self where Self == Minimum<R> { Self() }

  /// Finds the largest response; see ``Maximum``.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func max<R>() -> Self where Self == Maximum<R> { Self() }
}

/// The best response so far; of equal ones, the one with the lowest position.
@frozen
@usableFromInline
struct Leader<Response: Sendable>: Sendable {
  @usableFromInline
  var response: Response?
  @usableFromInline
  var position = 0

  @inlinable
  init() {}

  /// Replaces the leader by a response that beats it, or that equals it and has a lower position.
  @inlinable
  mutating func challenge(
    _ challenger: Response, from position: Int, beats: (Response, Response) -> Bool
  ) {
    if let response {
      let isEarlier = position < self.position
      guard isEarlier ? !beats(response, challenger) : beats(challenger, response) else { return }
    }
    response = challenger
    self.position = position
  }
}
