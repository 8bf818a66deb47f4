/// Takes the first response that is not `nil`, from whichever subscriber.
///
/// All are asked side by side; the first to come that is not `nil` decides. The outcome is `nil` if all
/// say `nil` or are missing. So a subscriber that has nothing to say returns `nil`, as in a veto with
/// its reason:
///
/// ```swift
/// let objection = await hub.ask(Rule.self, combining: .firstNonNil()) {
///   await $0.objection(to: order)
/// }
/// if let objection { print("refused: \(objection)") }
/// ```
///
/// If there is nobody to ask, there is no objection, with `absent:` too. Where that must not pass, vote with
/// ``Combiner/unanimous(ofAtLeast:)``; where the reason is wanted as well, <doc:VotesAndCombiners> has a
/// combiner that counts the answers.
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
  /// A method, as Swift has no generic properties.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func firstNonNil<R>() -> Self where Self == FirstNonNil<R> { Self() }
}
