@testable import Delegation

// For the tests of the engine, which subscribe without a hub.

extension SubscriptionRequest {
  init(
    object: AnyObject, type: any AnyObject.Type, attachments: SubscriptionOptions, priority: Int,
    policy: DelegateHub.MailboxPolicy, site: Site
  ) {
    var options = attachments
    options.priority = priority
    options.policy = policy
    self.init(object: object, type: type, options: options, site: site)
  }
}

extension SubscriptionOptions {
  init(id: Identity?) {
    self.init(subscriber: 0, id: id)
  }

  init(executor: (any TaskExecutor)?) {
    self.init(subscriber: 0, executor: executor)
  }

  /// With a subscriber that is held.
  init(subscriber: DeathNotice) {
    self.init(subscriber: subscriber, hold: .strongly)
  }
}

extension Attachments {
  init(id: Identity?) {
    self.init(SubscriptionOptions(id: id))
  }
}
