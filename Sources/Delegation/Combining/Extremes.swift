/// Finds the smallest response.
///
/// If several are equal, it takes the first of them in the order of the subscriptions. It is decided when all have answered or are missing, and never before. If all are missing, it is
/// `nil`. For responses that have no order, such as a floating-point NaN, the outcome may depend on which
/// came first.
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
/// If several are equal, it takes the first of them in the order of the subscriptions. It is decided when all have answered or are missing, and never before. If all are missing, it is
/// `nil`. For responses that have no order, such as a floating-point NaN, the outcome may depend on which
/// came first.
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
