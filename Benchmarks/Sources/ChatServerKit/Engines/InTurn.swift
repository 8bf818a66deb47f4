import DelegationAdapters
import Synchronization

/// Questions to one delegate after another that take no longer than a time, all of them together.
///
/// At the deadline the one being asked is cancelled and left behind, and nobody further is asked.
enum InTurn {
  /// The first answer; `nil` if nobody has one, or not in time.
  static func first<Delegate: Sendable, Answer: Sendable>(
    of delegates: [Delegate], within duration: Duration,
    _ ask: @escaping @Sendable (Delegate) async -> Answer?
  ) async -> Answer? {
    await withDeadline(duration, else: nil) { answer in
      for delegate in delegates where !Task.isCancelled {
        if let given = await ask(delegate) { return answer(given) }
      }
      answer(nil)
    }
  }

  /// What the delegates make of a value, each of what the one before has made of it.
  ///
  /// - Returns: the value in the end, without the changes of those that are late; `nil` if one of the
  ///   delegates has said so.
  static func pass<Delegate: Sendable, Value: Sendable>(
    _ value: Value, through delegates: [Delegate], within duration: Duration,
    _ change: @escaping @Sendable (Delegate, Value) async -> Value?
  ) async -> Value? {
    let present = Present<Value?>(value)
    return await withDeadline(duration, else: present.value) { answer in
      for delegate in delegates where !Task.isCancelled {
        guard let value = present.value else { break }
        present.value = await change(delegate, value)
      }
      answer(present.value)
    }
  }
}

/// What has become of a value so far, for somebody who cannot wait for the rest.
final class Present<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) {
    state = Mutex(value)
  }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
