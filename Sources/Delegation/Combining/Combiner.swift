/// Combines the responses of many subscribers into one outcome.
///
/// A call such as `ask` makes its own copy of a combiner. It tells
/// the copy how many subscribers will be asked, and then of each response and each absentee. The
/// call returns the first outcome that the combiner returns. To decide early, a combiner returns an
/// outcome as soon as no later response can change it. The call then returns at once, and handlers
/// that still run are cancelled.
///
/// **Order.** ``begin(asking:)`` is called once and first; then ``receive(_:from:)`` or
/// ``receiveNothing(from:)`` once for each position, in the order in which the responses come; then, if
/// nothing has decided, ``finish()``. After a decision nothing more is called.
///
/// **Isolation.** The calls are made one at a time, from any thread, under no lock and on no actor, in tasks with
/// the caller's task-locals and priority. The call returns after them, past its deadline too: a combiner must not
/// block, nor release what has a `deinit` that does.
///
/// ```swift
/// /// Denies at the second "no".
/// struct TwoVetoes: Combiner {
///   var vetoes = 0
///   mutating func receive(_ response: Bool, from position: Int) -> Bool? {
///     if !response { vetoes += 1 }
///     return vetoes == 2 ? false : nil
///   }
///   mutating func finish() -> Bool { true }
/// }
/// ```
public protocol Combiner<Response, Outcome>: Sendable {
  /// What one subscriber answers.
  associatedtype Response: Sendable
  /// What the call returns.
  associatedtype Outcome: Sendable

  /// Starts the count.
  ///
  /// The count is an upper bound: it includes subscribers that have died without being noticed yet,
  /// and those that are removed before their turn. A rule that must know how many there are counts
  /// them in ``receive(_:from:)``.
  ///
  /// - Parameter count: how many subscribers will be asked at most; positions run from 0 up to it, in
  ///   the order of the subscriptions.
  /// - Returns: an outcome if it is already fixed; then nobody is asked. The default returns `nil`.
  mutating func begin(asking count: Int) -> Outcome?

  /// Takes one subscriber's response, or what ``DelegateHub/Absence/counts(as:)`` counts in its place.
  ///
  /// - Parameters:
  ///   - response: what the subscriber answered.
  ///   - position: the subscriber's place in the order of the subscriptions.
  /// - Returns: the outcome if it is now fixed, or `nil` to hear more.
  mutating func receive(_ response: Response, from position: Int) -> Outcome?

  /// Learns that a subscriber will not answer: it abstained, died, or was removed before it was asked.
  ///
  /// - Parameter position: the subscriber's place in the order of the subscriptions.
  /// - Returns: the outcome if it is now fixed. The default returns `nil`.
  mutating func receiveNothing(from position: Int) -> Outcome?

  /// Returns the outcome when all have answered or are missing, and nothing has been decided.
  ///
  /// - Returns: the outcome.
  mutating func finish() -> Outcome
}

extension Combiner {
  /// Decides nothing before the first response.
  ///
  /// - Parameter count: how many subscribers will be asked.
  /// - Returns: `nil`.
  public mutating func begin(asking count: Int) -> Outcome? { nil }

  /// Ignores the absentee.
  ///
  /// - Parameter position: the subscriber's place in the order of the subscriptions.
  /// - Returns: `nil`.
  public mutating func receiveNothing(from position: Int) -> Outcome? { nil }
}

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
  /// let objection = await hub[Rule.self].ask(combining: .firstNonNil()) {
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
