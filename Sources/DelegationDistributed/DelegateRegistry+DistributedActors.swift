public import Delegation
public import Distributed

extension DelegateRegistry {
  /// Subscribes a distributed actor: a remote one is held strongly, a local one weakly.
  ///
  /// As ``DelegateHub/subscribe(_:to:priority:mailbox:on:fileID:line:)``.
  ///
  /// - Parameters:
  ///   - subscriber: a distributed actor that conforms to the protocol, or the stub of a
  ///     `@Resolvable` protocol that has been made to conform to it.
  ///   - priority: higher is asked and served first.
  ///   - mailbox: what to do when notifications come faster than the subscriber handles them.
  ///   - executor: where calls to it begin; `nil` for the hub's choice.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: O(1), amortised.
  @discardableResult
  public func subscribe(
    _ subscriber: any DistributedActor, priority: Int? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil,
    on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> DelegateHub.Subscription {
    subscribe(
      conforming(subscriber, to: P.self, "DelegateRegistry.subscribe(_:)", fileID, line),
      priority: priority, id: identity(of: subscriber), hold: hold(on: subscriber),
      mailbox: mailbox,
      on: executor, fileID: fileID, line: line)
  }
}
