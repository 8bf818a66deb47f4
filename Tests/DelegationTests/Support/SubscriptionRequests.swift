@testable import Delegation

// For the tests of the engine, which subscribe without a hub.

extension SubscriptionOptions {
  convenience init?(id: Identity?) {
    self.init(of: 0, id: id)
  }

  /// Those of an object that subscribes again, with an executor.
  convenience init(executor: any TaskExecutor) {
    self.init(SubscriptionOptions(of: 0, executor: executor)!, over: nil)
  }
}
