/// Somebody who is asked before a message is posted.
///
/// One objection denies. Who does not answer in time abstains: rather a word too many than a room that
/// is silent because a rule hangs.
protocol MessageRule: AnyObject, Sendable {
  func verdict(on draft: Draft) async -> Verdict
}
