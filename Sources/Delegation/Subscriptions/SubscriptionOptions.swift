/// What somebody who subscribes says about it; `nil` for what was not named.
struct SubscriptionOptions: Sendable {
  /// Kept if that is what `hold` says.
  let subscriber: any Sendable
  var priority: Int?
  var id: Identity?
  var hold: DelegateHub.Hold?
  var policy: DelegateHub.MailboxPolicy?
  var executor: (any TaskExecutor)?

  init(
    subscriber: any Sendable, priority: Int? = nil, id: Identity? = nil,
    hold: DelegateHub.Hold? = nil, policy: DelegateHub.MailboxPolicy? = nil,
    executor: (any TaskExecutor)? = nil
  ) {
    self.subscriber = subscriber
    self.priority = priority
    self.id = id
    self.hold = hold
    self.policy = policy
    self.executor = executor
  }
}
