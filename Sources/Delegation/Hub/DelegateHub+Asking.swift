/// Questions that are asked side by side, with closures that await something.
///
/// How they are asked is in `DelegateHub+Polling`, and how one subscriber is in ``Asking``.
extension DelegateHub {
  /// Asks with a deadline, or none, and counts what is thrown as absent.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func decide<P, C: Combiner>(
    _ recipients: Recipients<P>, by combiner: C, in call: CallKind, within duration: Duration?,
    _ asking: some Asking<C.Response, any Error>
  ) async -> C.Outcome {
    let deadline = deadline(within: duration)
    return await decide(recipients, by: combiner, in: call, within: deadline, asking).outcome
  }

  /// Asks for each one's own result.
  @_alwaysEmitIntoClient
  @inline(__always)
  nonisolated func collect<P, Inner: Asking>(
    _ recipients: Recipients<P>, within duration: Duration?, _ asking: Inner
  ) async -> [Reply<Inner.Response>] {
    let deadline = deadline(within: duration)
    return await decide(
      recipients, by: .all(), in: .collect, within: deadline, AskingForReply(asking)
    ).get()
  }

  /// Asks with a closure that awaits nothing; clients do not carry its code.
  @usableFromInline
  nonisolated func collectApart<P, R: Sendable>(
    _ asking: AskingInPlace<P, R, any Error>, within duration: Duration?
  ) async -> [Reply<R>] {
    await collect(asking.recipients, within: duration, asking)
  }
}

extension Result {
  /// The outcome of a question that does not fail: it counts what is thrown as absent.
  @inlinable
  var outcome: Success {
    guard case .success(let outcome) = self else {
      fatalError("Delegation: a question failed that counts failures as absent")
    }
    return outcome
  }
}
