import Delegation
import DelegationAdapters

/// Questions in turn with a deadline, as the library has them for questions to all at once.
///
/// Called as the library's own are to be, so that these can go when those are there.
extension DelegateHub {
  /// Asks one after another until one has an answer.
  ///
  /// At the deadline the one being asked is cancelled and left behind, and nobody further is asked.
  ///
  /// - Parameters:
  ///   - protocol: who is asked.
  ///   - duration: how long all of them may take together.
  ///   - absence: what it means that nobody has answered by then.
  ///   - body: asks one of them.
  /// - Returns: the first answer; `nil` if there is none.
  nonisolated func askInTurn<P: Sendable, R: Sendable>(
    _ protocol: P.Type, within duration: Duration, absent absence: Absence<R?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async -> R?
  ) async -> R? {
    let late = absence.answer(or: nil)
    return await withDeadline(duration, else: late) { answer in
      answer(
        await self.first(`protocol`) { subscriber in
          Task.isCancelled ? nil : await body(subscriber)
        })
    }
  }

  /// Passes a value through one after another, each of which may change it or stop it.
  ///
  /// At the deadline the one being asked is cancelled and left behind, and nobody further is asked.
  ///
  /// - Parameters:
  ///   - value: what the first one gets.
  ///   - protocol: who is asked.
  ///   - duration: how long all of them may take together.
  ///   - absence: what the deadline makes of the value: if those that are late abstain, it is what it has
  ///     become so far.
  ///   - body: asks one of them.
  /// - Returns: what has become of the value; `nil` if one has stopped it.
  nonisolated func pass<P: Sendable, V: Sendable>(
    _ value: V, through protocol: P.Type, within duration: Duration, absent absence: Absence<V?>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async -> V?
  ) async -> V? {
    let present = Present<V?>(value)
    return await withDeadline(duration, else: absence.answer(or: present.value)) { answer in
      answer(
        await self.pass(value, through: `protocol`) { subscriber, value in
          guard !Task.isCancelled else { return nil }
          present.value = await body(subscriber, value)
          return present.value
        })
    }
  }
}

extension Absence {
  /// The answer that counts; if there is none, another.
  fileprivate func answer(or other: Response) -> Response {
    switch self {
    case .abstains: other
    case .counts(as: let response): response
    }
  }
}
