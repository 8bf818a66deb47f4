/// Somebody without whose consent no message is posted.
///
/// Gates are asked before the rules, by priority, until one objects: in the sender's own task, and without a
/// deadline. So a gate answers at once and waits for nothing, and is never late, however busy the server is.
/// One that has died counts as a "no"; one that was removed is not missed.
protocol MessageGate: AnyObject, Sendable {
  func verdict(on draft: Draft) -> Verdict
}
