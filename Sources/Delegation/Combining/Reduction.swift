/// Combines the responses with a function, as `reduce` does with the elements of a sequence.
///
/// They are combined in the order of the subscriptions, whatever the order in which they come. So the function need
/// not be commutative, and a floating-point sum is the same each time. Absentees are skipped. The outcome is decided
/// when all have answered or are missing, and never before. A response that comes before its turn is kept until those
/// before it have come.
///
/// ```swift
/// let longest = Reduction<String, Int>(0) { max($0, $1.count) }
/// ```
///
/// As an argument, `Reduction(0) { $0 + $1.count }` infers its types.
///
/// **Nobody to ask:** the initial value, decided before anybody answers.
///
/// - Complexity: one call of the function and O(1) amortised time for each response, O(*k*) space
///   for *k* responses that come before their turn.
@frozen
public struct Reduction<Response: Sendable, Outcome: Sendable>: Combiner {
  /// The outcome of all positions before `next`; of all positions, once none is outstanding.
  @usableFromInline
  var outcome: Outcome
  @usableFromInline
  let combine: @Sendable (inout Outcome, Response) -> Void
  /// The first position that has neither come nor is missing.
  @usableFromInline
  var next = 0
  /// The responses that came early, by position; `nil` for an absentee.
  @usableFromInline
  var early: [Int: Response?] = [:]

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

  /// Combines the response in its turn.
  @inlinable
  public mutating func receive(_ response: Response, from position: Int) -> Outcome? {
    place(response, at: position)
    return nil
  }

  /// Skips the absentee.
  @inlinable
  public mutating func receiveNothing(from position: Int) -> Outcome? {
    place(nil, at: position)
    return nil
  }

  /// Gives the combined outcome.
  @inlinable
  public mutating func finish() -> Outcome { outcome }

  /// Takes a response, or `nil` for an absentee, and combines all that are in order now.
  @inlinable
  mutating func place(_ response: Response?, at position: Int) {
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
}

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
