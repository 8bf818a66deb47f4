/// Takes the first response that has a value, from whichever subscriber; ``Combiner/first()`` makes one.
///
/// All are asked side by side. It is `nil` if none has a value.
///
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time and space.
@frozen
public struct First<Response: Sendable, Value: Sendable>: Combiner {
  @usableFromInline
  let value: @Sendable (Response) -> Value?

  @inlinable
  init(_ value: @escaping @Sendable (Response) -> Value?) { self.value = value }

  /// Decides `nil` if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Value?? { count == 0 ? .some(nil) : nil }

  /// Decides for the response's value, if it has one.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Value?? {
    value(response).map(Optional.some)
  }

  /// Gives `nil`: nobody had a value.
  @inlinable
  public mutating func finish() -> Value? { nil }
}

extension Combiner {
  /// Takes the response that comes first, or `nil` if all are missing.
  ///
  /// It is a method because Swift has no generic properties.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func first<R>() -> Self where Self == First<R, R> { Self { $0 } }

  /// Takes the first response that is not `nil`, or `nil` if all say so or are missing.
  ///
  /// With it a veto has a reason, and a subscriber without an objection returns `nil`:
  ///
  /// ```swift
  /// let objection = await hub.ask(Rule.self, combining: .firstNonNil()) {
  ///   await $0.objection(to: order)
  /// }
  /// if let objection { print("refused: \(objection)") }
  /// ```
  ///
  /// If nobody is there to ask, there is no objection, even with `absent:`. If that must not pass,
  /// vote with ``Combiner/unanimous(ofAtLeast:)``, or take the combiner in <doc:FailingClosed>, which
  /// has a reason and counts the answers.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func firstNonNil<R>() -> Self where Self == First<R?, R> { Self { $0 } }
}
