/// Somebody without whose consent no message is posted.
///
/// Gates are asked before the rules, by priority, until one objects: in the sender's own task, and without a
/// deadline. So a gate answers at once and waits for nothing, and is never late, however busy the server is.
/// One that was there once and is missing counts as a "no", whether it has died or was unloaded.
protocol MessageGate: ServerExtension {
  func verdict(on draft: Draft) -> Verdict
}
