/// Takes the response that comes first, from whichever subscriber.
///
/// All are asked side by side. The first response decides. The outcome is `nil` if all are missing.
///
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time and space.
public struct FirstResponse<Response: Sendable>: Combiner {
  /// Makes a rule that the fastest subscriber decides.
  public init() {}

  /// Decides `nil` if nobody is asked.
  public mutating func begin(asking count: Int) -> Response?? { count == 0 ? .some(nil) : nil }

  /// Decides for the response.
  public mutating func receive(_ response: Response, from position: Int) -> Response?? {
    .some(response)
  }

  /// Gives `nil`: nobody has answered.
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
  public static func first<R>() -> Self where Self == FirstResponse<R> { Self() }
}
