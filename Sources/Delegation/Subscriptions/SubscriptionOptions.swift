/// The options of one call of `subscribe`; `nil` for those that were not named.
struct SubscriptionOptions: Sendable {
  /// Kept alive if `hold` is `strongly`.
  let subscriber: any Sendable
  var priority: Int?
  var id: Identity?
  var hold: DelegateHub.Hold?
  var policy: DelegateHub.MailboxPolicy?
  var executor: (any TaskExecutor)?

  /// The subscriber, if the hub keeps it alive.
  var held: (any Sendable)? { hold == .strongly ? subscriber : nil }

  /// Whether an option is named that the node keeps itself.
  var namesAttachmentsOrPolicy: Bool {
    id != nil || hold != nil || policy != nil || executor != nil
  }
}
