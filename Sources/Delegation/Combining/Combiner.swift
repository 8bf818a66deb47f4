/// Combines the responses of many subscribers into one outcome.
///
/// A call such as `ask` makes its own copy of a combiner. It tells the copy how many subscribers will be asked, and
/// then each response and each absentee, a subscriber that gives no answer. The call returns the first outcome that the
/// combiner returns. To decide early, a combiner returns an outcome as soon as no later response can change it. The
/// call then returns at once, and handlers that still run are cancelled.
///
/// **Order.** ``begin(asking:)`` is called once and first; then ``receive(_:from:)`` or
/// ``receiveNothing(from:)`` once for each position, in the order in which the responses come; then, if
/// nothing has decided, ``finish()``. After a decision nothing more is called.
///
/// **Isolation.** The methods are called one at a time, from any thread, under no lock and on no actor, in tasks with
/// the caller's task-locals and priority. The call that asks returns only when they have returned, even past its
/// deadline. So a combiner must neither block nor release an object whose `deinit` blocks.
///
/// ```swift
/// /// Denies at the second "no"; true with nobody to ask.
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
  /// What the asking call returns.
  associatedtype Outcome: Sendable

  /// Learns how many subscribers will be asked.
  ///
  /// The number is an upper bound: it includes subscribers that have died unnoticed, and those that are removed before
  /// their turn. A rule that must know how many there are counts them in ``receive(_:from:)``.
  ///
  /// - Parameter count: the number; positions run from 0 to `count - 1`, in the order of the subscriptions.
  /// - Returns: the outcome if it is already decided; then nobody is asked. The default returns `nil`.
  mutating func begin(asking count: Int) -> Outcome?

  /// Takes one subscriber's response, or the one that ``DelegateHub/Absence/counts(as:)`` counts instead.
  ///
  /// - Parameters:
  ///   - response: the response.
  ///   - position: the subscriber's index in the order of the subscriptions.
  /// - Returns: the outcome if it is now decided, or `nil` to hear more.
  mutating func receive(_ response: Response, from position: Int) -> Outcome?

  /// Learns that a subscriber will not answer: it abstained, died, or was removed before it was asked.
  ///
  /// - Parameter position: the subscriber's index in the order of the subscriptions.
  /// - Returns: the outcome if it is now decided. The default returns `nil`.
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
  /// - Parameter position: the subscriber's index in the order of the subscriptions.
  /// - Returns: `nil`.
  public mutating func receiveNothing(from position: Int) -> Outcome? { nil }
}

/// A rule that takes the first response that has a value; ``Combiner/first()`` makes one.
///
/// All subscribers are asked side by side. The outcome is `nil` if no response has a value.
///
/// **Nobody to ask:** `nil`.
///
/// - Complexity: O(1) time and space.
@frozen
public struct First<Response: Sendable, Value: Sendable>: Combiner {
  @usableFromInline let value: @Sendable (Response) -> Value?

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

  /// Gives `nil`: no response had a value.
  @inlinable
  public mutating func finish() -> Value? { nil }
}

extension Combiner {
  /// Takes the response that comes first, or `nil` if all are missing.
  ///
  /// A method, because Swift has no generic properties.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func first<R>() -> Self where Self == First<R, R> { Self { $0 } }

  /// Takes the first response that is not `nil`; the outcome is `nil` if there is none.
  ///
  /// So a veto has a reason, and a subscriber without an objection returns `nil`:
  ///
  /// ```swift
  /// let objection = await hub[Rule.self].ask(combining: .firstNonNil()) {
  ///   await $0.objection(to: order)
  /// }
  /// if let objection { print("refused: \(objection)") }
  /// ```
  ///
  /// If nobody is there to ask, there is no objection, even with `absent:`. If that must not pass, vote with
  /// ``Combiner/unanimous(ofAtLeast:)``, or take the combiner in <doc:FailingClosed>, which gives a reason and counts
  /// the answers.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func firstNonNil<R>() -> Self where Self == First<R?, R> { Self { $0 } }
}

/// A rule that combines the responses with a function, as `reduce` does with the elements of a sequence.
///
/// Responses are combined in the order of the subscriptions, whatever the order in which they come. So the function
/// need not be commutative, and a floating-point sum is the same each time. Absentees are skipped. The outcome is
/// decided only when all have answered or are missing.
///
/// ```swift
/// let longest = Reduction<String, Int>(0) { max($0, $1.count) }
/// ```
///
/// As an argument, `Reduction(0) { $0 + $1.count }` infers its types.
///
/// **Nobody to ask:** the initial value.
///
/// - Complexity: one call of the function and O(1) amortised time for each response, O(*k*) space
///   for *k* responses that come before their turn.
@frozen
public struct Reduction<Response: Sendable, Outcome: Sendable>: Combiner {
  /// The combined responses of all positions before `next`.
  @usableFromInline var outcome: Outcome
  @usableFromInline let combine: @Sendable (inout Outcome, Response) -> Void
  /// The first position whose response or absence is outstanding.
  @usableFromInline var next = 0
  /// The responses that came before their turn, by position; `nil` for an absentee.
  @usableFromInline var early: [Int: Response?] = [:]

  /// Makes a rule from a value to start with and a function.
  ///
  /// - Parameters:
  ///   - initial: the outcome if nobody answers.
  ///   - combine: takes the outcome so far and the next response, returns the new outcome.
  @inlinable
  public init(_ initial: Outcome, _ combine: @escaping @Sendable (Outcome, Response) -> Outcome) {
    self.init(into: initial) { $0 = combine($0, $1) }
  }

  @inlinable
  init(into initial: Outcome, _ combine: @escaping @Sendable (inout Outcome, Response) -> Void) {
    outcome = initial
    self.combine = combine
  }

  /// Decides for the initial value if nobody is asked.
  @inlinable
  public mutating func begin(asking count: Int) -> Outcome? { count == 0 ? outcome : nil }

  /// Combines the response after those of all earlier positions.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Outcome? {
    put(response, at: position)
    return nil
  }

  /// Puts `nil` in the absentee's place.
  @inlinable
  public mutating func receiveNothing(from position: Int) -> Outcome? {
    put(nil, at: position)
    return nil
  }

  /// Gives the combined outcome.
  @inlinable
  public mutating func finish() -> Outcome { outcome }

  /// Takes a response, or `nil` for an absentee, and combines all responses whose turn has come.
  @inlinable
  mutating func put(_ response: Response?, at position: Int) {
    guard position == next else {
      early.updateValue(response, forKey: position)
      return
    }
    if let response { combine(&outcome, response) }
    next += 1
    while !early.isEmpty, let response = early.removeValue(forKey: next) {
      if let response { combine(&outcome, response) }
      next += 1
    }
  }
}

extension Combiner {
  /// Combines the responses with a function in the order of the subscriptions; see ``Reduction``.
  ///
  /// **Nobody to ask:** the initial value.
  ///
  /// A closure must say that it is `@Sendable`, because Swift does not infer it here.
  ///
  /// ```swift
  /// let sum = await hub[Node.self].ask(combining: .reduce(0, +)) { await $0.load }
  /// let length = await hub[Node.self].ask(combining: .reduce(0) { @Sendable in $0 + $1.count }) {
  ///   await $0.name
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - initial: the outcome if nobody answers.
  ///   - combine: takes the outcome so far and the next response, returns the new outcome.
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func reduce<R, O>(
    _ initial: O, _ combine: @escaping @Sendable (O, R) -> O
  ) -> Self where Self == Reduction<R, O> {
    Self(initial, combine)
  }

  /// Adds up the responses in the order of the subscriptions; see ``Reduction``.
  ///
  /// **Nobody to ask:** zero.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func sum<R: AdditiveArithmetic>() -> Self where Self == Reduction<R, R> {
    Self(into: .zero) { $0 += $1 }
  }

  /// Gathers all responses in the order of the subscriptions; absentees are left out; see ``Reduction``.
  ///
  /// **Nobody to ask:** an empty array.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func all<R>() -> Self where Self == Reduction<R, [R]> {
    Self(into: []) { $0.append($1) }
  }

  /// Finds the smallest response; of equal ones the first in the order of the subscriptions; see ``Reduction``.
  ///
  /// A response without an order, such as a floating-point NaN, is compared with the smallest before it.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func min<R: Comparable>() -> Self where Self == Reduction<R, R?> {
    Self(into: nil) { least, next in if least.map({ next < $0 }) ?? true { least = next } }
  }

  /// Finds the largest response; of equal ones the first in the order of the subscriptions; see ``Reduction``.
  ///
  /// **Nobody to ask:** `nil`.
  ///
  /// - Returns: the rule.
  /// - Complexity: O(1).
  @inlinable
  public static func max<R: Comparable>() -> Self where Self == Reduction<R, R?> {
    Self(into: nil) { greatest, next in
      if greatest.map({ next > $0 }) ?? true { greatest = next }
    }
  }
}
