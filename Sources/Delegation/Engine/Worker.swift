public import Synchronization

/// A runner of handlers, one after another: which of its calls is running, and how that call ends.
///
/// This is a worker of a delivery or a question, a caller that asks in its own task, a loop over a stream, or a closure
/// that delays a drain.
///
/// Tasks that handlers start retain the worker as long as they live. So the worker retains neither the question, nor
/// subscriptions, nor the hub.
///
/// `@unchecked Sendable`: each variable says who uses it; only the task that runs the handlers uses `failure`,
/// `isIncident` and `mustAskElsewhere`.
@usableFromInline
final class Worker: @unchecked Sendable {
  /// The hub's number.
  let hub: Int
  /// The caller that awaits what the worker does; `nil` for a delivery and for a loop over a stream.
  let caller: Caller?
  /// Twice the number of the latest call, plus 1 while its handler is running.
  ///
  /// One word, so that a reader takes no call for another. Only the worker writes it.
  let word = Atomic<UInt64>(0)
  /// The identity, as bits, of the subscription that a question's worker asks; written before `word`.
  private let node = Atomic<UInt>(0)
  /// The index among the question's workers, from 1; 0 until the question keeps the worker's task, -1 once the worker
  /// has left.
  ///
  /// Used under the question's lock.
  @exclusivity(unchecked)
  var index = 0
  /// The number of the task that runs only this worker's handlers; `nil` if the caller's task runs them, and for a loop
  /// over a stream.
  ///
  /// Written before the first handler begins. 0 (unknown) for a question's worker: to find the number takes 200
  /// instructions.
  @exclusivity(unchecked)
  var task: UInt64?
  /// In how many calls the worker's handlers are nested; each call may have begun on its caller's thread.
  let depth: Int
  /// Whether the worker has one claim only, which was sent to an executor.
  let isSent: Bool
  /// How the latest call ends, as far as is known; also `unasked` while an interceptor, or a busy actor, keeps the
  /// handler from beginning.
  ///
  /// The raw value of a ``CallEnd``, to spare making one at each look. Only the worker writes it.
  @usableFromInline
  let callEnd = Atomic(CallEnd.answered.rawValue)
  /// Whether ``ask(_:in:absence:on:_:)`` has found a replacement that has to be asked on its own executor.
  @exclusivity(unchecked)
  @usableFromInline
  var mustAskElsewhere = false

  /// What the handler threw, until the call has ended.
  @exclusivity(unchecked)
  private var failure: (any Error)?
  /// Whether `failure` is an incident, because the caller does not receive it.
  @exclusivity(unchecked)
  private var isIncident = false

  /// Whether this attends mailboxes (see ``Delivery``): as a delivery's worker, or as the loop over a stream.
  var isAttending: Bool { caller == nil }

  init(for hub: Int, caller: Caller?, only isSent: Bool = false, depth: Int = 0) {
    (self.hub, self.caller, self.isSent) = (hub, caller, isSent)
    self.depth = caller?.depth ?? depth
  }

  /// The number of the running call and the identity of its subscription; `nil` if none is running.
  var running: (call: UInt64, node: UInt)? {
    while true {
      let word = word.load(ordering: .acquiring)
      if word & 1 == 0 { return nil }
      let node = node.load(ordering: .acquiring)
      if self.word.load(ordering: .acquiring) == word { return (word >> 1, node) }
    }
  }

  /// Notes that a handler begins.
  ///
  /// - Parameter node: the handler's subscription, if it is asked by a worker of a ``Question``.
  /// - Returns: the call's number, from 1.
  @usableFromInline @discardableResult
  func begin(_ node: SubscriptionNode? = nil) -> UInt64 {
    if let node { self.node.store(node.identityBits, ordering: .releasing) }
    let call = word.load(ordering: .relaxed) >> 1 &+ 1
    word.store(call << 1 | 1, ordering: .releasing)
    return call
  }

  /// Notes that the handler has returned.
  ///
  /// Must be called before the subscription's or the hub's count of handlers falls: a wait must not excuse
  /// (``WaitGoal``) a handler that is no longer counted.
  func end() { word.store(word.load(ordering: .relaxed) & ~1, ordering: .sequentiallyConsistent) }

  func note(_ end: CallEnd) { callEnd.store(end.rawValue, ordering: .relaxed) }

  /// Whether the latest call has reached its subscriber, as far as is known.
  @inlinable var isAsked: Bool { callEnd.load(ordering: .relaxed) != CallEnd.unasked.rawValue }

  /// Whether the latest call was answered, as far as is known: no other end is noted.
  var hasAnswered: Bool { callEnd.load(ordering: .relaxed) == CallEnd.answered.rawValue }

  /// How the latest call ends, and what its handler threw, if that is to be reported; forgets both for the next call.
  func takeEnd(isCancelled: Bool) -> (end: CallEnd, failure: (any Error)?) {
    if hasAnswered { return (isCancelled ? .abandoned : .answered, nil) }
    defer { failure = nil }
    let end = CallEnd(rawValue: callEnd.exchange(0, ordering: .relaxed)) ?? .answered
    return (end, end == .failed && isIncident ? failure : nil)
  }

  /// A notification's *fate*: `expired` if its handler noted that it called nobody, which is then forgotten; else what
  /// the handler returned.
  func takeFate(_ fate: Notification.Fate) -> Notification.Fate {
    if hasAnswered { return fate }
    note(.answered)
    return .expired
  }

  /// Notes what the handler threw; in a cancelled task, the call counts as abandoned, and the error is not reported.
  fileprivate func note(_ failure: any Error, isIncident: Bool) {
    note(Task.isCancelled ? .abandoned : .failed)
    (self.failure, self.isIncident) = (failure, isIncident)
  }

  /// What interceptors learn of the handler, which has returned.
  var outcome: DelegateHub.HandlerOutcome {
    hasAnswered ? .returned : failure.map { .threw($0) } ?? .notCalled
  }

  /// Notes that a question's handler has returned, and ends the call.
  @usableFromInline
  func end(_ node: SubscriptionNode, in call: CallKind, isCancelled: Bool) {
    end()
    if hasAnswered, !isCancelled { return node.endCall() }
    countOff(node, in: call, isCancelled: isCancelled)
  }

  /// Ends a call that has no answer, or was cancelled; reports what its handler threw, if that is an incident.
  @inline(never)
  private func countOff(_ node: SubscriptionNode, in call: CallKind, isCancelled: Bool) {
    let (end, failure) = takeEnd(isCancelled: isCancelled)
    node.endCall(as: end, throwing: failure, in: call)
  }

  /// Asks a subscription in the current task, on the handler's actor; if it was not asked, its replacement, unless that
  /// has an executor.
  ///
  /// Binds a context of its own: a task that an earlier handler left behind must not count as part of this handler.
  ///
  /// - Returns: what `handler` returns, or `absence` if nobody was asked.
  @_alwaysEmitIntoClient @inline(__always)
  func ask<Result>(
    _ node: SubscriptionNode, in call: CallKind, absence: Result,
    on actor: isolated (any Actor)? = nil,
    _ handler: nonisolated(nonsending) (SubscriptionNode) async -> Result
  ) async -> Result {
    var node = node
    mustAskElsewhere = false
    while true {
      if node.beginCall() {
        let context = HandlerContext(worker: self, call: begin(), node: node)
        let result = await HandlerContext.binding.withValue(context) {
          // The capture makes the closure run on the actor.
          _ = actor
          return await handler(node)
        }
        let isAsked = isAsked
        end(node, in: call, isCancelled: Task.isCancelled)
        if isAsked { return result }
      }
      guard let replacement = node.replacement else { return absence }
      // `forEach` asks the replacement, and stops the program: see `stopAtExecutor`.
      if replacement.hasExecutor, call != .forEach {
        mustAskElsewhere = true
        return absence
      }
      node = replacement
    }
  }

  func isRunning(_ call: UInt64) -> Bool {
    word.load(ordering: .sequentiallyConsistent) == call << 1 | 1
  }
}

extension HandlerContext {
  /// Notes how the call that the current task belongs to ends, as far as is known.
  @usableFromInline
  static func note(_ end: CallEnd) { binding.wrappedValue?.worker.note(end) }
}

extension SubscriptionNode {
  /// Notes that the handler threw, and whether that is an incident.
  @usableFromInline
  func noteFailure(_ error: any Error, isIncident: Bool = false) {
    HandlerContext.binding.wrappedValue?.worker.note(error, isIncident: isIncident)
  }

  @usableFromInline
  func endFailedCall() { endCall(as: Task.isCancelled ? .abandoned : .failed) }
}

extension SubscriptionNode {
  /// The subscription's identity as bits, for what must not retain it.
  var identityBits: UInt { UInt(bitPattern: ObjectIdentifier(self)) }
}
