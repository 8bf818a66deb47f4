/// Takes the response that comes first, from whichever subscriber.
///
/// All are asked side by side. The first response decides. The outcome is `nil` if all are missing.
///
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time and space.
@frozen
public struct FirstResponse<Response: Sendable>: Combiner {
  /// Makes a rule that the fastest subscriber decides.
  @inlinable
  public init() {}

  /// Decides `nil` if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Response?? { count == 0 ? .some(nil) : nil }

  /// Decides for the response.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Response?? {
    .some(response)
  }

  /// Gives `nil`: nobody has answered.
  @inlinable
  public mutating func finish() -> Response? { nil }
}

extension Combiner {
  /// Takes the response that comes first, or `nil`; see ``FirstResponse``.
  ///
  /// It is a method because Swift has no generic properties.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func first<R>() -> Self where Self == FirstResponse<R> { Self() }
}
