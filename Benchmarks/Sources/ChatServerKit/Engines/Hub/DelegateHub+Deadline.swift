import Delegation
import DelegationAdapters

/// Questions in turn with a deadline, as the library has them for questions to all at once.
///
extension DelegateHub {
  /// Asks one after another until one has an answer.
  ///
  /// At the deadline the one being asked is cancelled and left behind, and nobody further is asked.
  ///
  /// - Parameters:
  ///   - protocol: who is asked.
  ///   - duration: how long all of them may take together.
  ///   - body: asks one of them.
  /// - Returns: the first answer; `nil` if there is none.
  nonisolated func askInTurn<P: Sendable, R: Sendable>(
    _ protocol: P.Type, within duration: Duration,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async -> R?
  ) async -> R? {
    await withDeadline(duration, else: nil) { answer in
      answer(
        await self.askInTurn(`protocol`) { subscriber in
          Task.isCancelled ? nil : await body(subscriber)
        })
    }
  }

  /// Passes a value through one after another, each of which may change it or stop it.
  ///
  /// At the deadline the one being asked is cancelled and left behind, and nobody further is asked:
  /// the value is then what it has become so far.
  ///
  /// - Parameters:
  ///   - value: what the first one gets.
  ///   - protocol: who is asked.
  ///   - duration: how long all of them may take together.
  ///   - body: asks one of them.
  /// - Returns: what has become of the value; `nil` if one has stopped it.
  nonisolated func pass<P: Sendable, V: Sendable>(
    _ value: V, through protocol: P.Type, within duration: Duration,
    _ body: nonisolated(nonsending) @escaping @Sendable (P, V) async -> V?
  ) async -> V? {
    let present = Present<V?>(value)
    return await withDeadline(duration, else: present.value) { answer in
      answer(
        await self.pass(value, through: `protocol`) { subscriber, value in
          guard !Task.isCancelled else { return nil }
          present.value = await body(subscriber, value)
          return present.value
        })
    }
  }
}
