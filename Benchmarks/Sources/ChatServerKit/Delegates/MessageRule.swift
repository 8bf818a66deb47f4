/// Somebody who is asked before a message is posted, and may think about it.
///
/// One objection denies. Who does not answer in time abstains: rather a word too many than a room that
/// is silent because a rule hangs. What must not be let through for lack of time is a ``MessageGate``.
protocol MessageRule: ServerExtension {
  func verdict(on draft: Draft) async -> Verdict
}
