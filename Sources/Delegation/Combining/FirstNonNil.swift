/// Takes the first response that is not `nil`, from whichever subscriber.
///
/// All are asked side by side. The first response to come that is not `nil` decides. The outcome is
/// `nil` if all say `nil` or are missing. With it a veto has a reason, and a subscriber without an
/// objection returns `nil`:
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
/// **Nobody to ask:** `nil`, decided before anybody answers.
///
/// - Complexity: O(1) time and space.
@frozen
public struct FirstNonNil<Wrapped: Sendable>: Combiner {
  /// Makes a rule that the fastest subscriber with something to say decides.
  @inlinable
  public init() {}

  /// Decides `nil` if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Wrapped?? { count == 0 ? .some(nil) : nil }

  /// Decides for the response unless it is `nil`.
  @inlinable
  public mutating func receive(_ response: Wrapped?, from position: Int) -> Wrapped?? {
    response.map(Optional.some)
  }

  /// Gives `nil`: nobody had anything to say.
  @inlinable
  public mutating func finish() -> Wrapped? { nil }
}

extension Combiner {
  /// Takes the first response that is not `nil`, or `nil`; see ``FirstNonNil``.
  ///
  /// It is a method because Swift has no generic properties.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func firstNonNil<R>() -> Self where Self == FirstNonNil<R> { Self() }
}
