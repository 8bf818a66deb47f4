// Subscriptions and calls name a protocol. If the type is a class, or a generic parameter that stands for
// one, overload resolution prefers this overload, and the compiler warns. It would skip an unavailable
// overload. An existential does not match: `any DoorDelegate` is no class, though its values are objects.
// At run time it does what the other does, and stops the program, as does a call on a class.

extension DelegateHub {
  /// Warns that the type is not a protocol.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// **Errors.** It stops the program with a message that names the class.
  ///
  /// - Parameters:
  ///   - subscriber: an object.
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - priority: not used.
  ///   - id: not used.
  ///   - hold: not used.
  ///   - mailbox: not used.
  ///   - executor: not used.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: nothing: it does not return.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this subscribes to a class, which no call reaches; name a protocol: DoorDelegate.self"
  )
  @discardableResult
  public nonisolated func subscribe<P: AnyObject & Sendable>(
    _ subscriber: P, to protocol: P.Type, priority: Int? = nil,
    id: (any Hashable & Sendable)? = nil, hold: Hold? = nil,
    mailbox: MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Subscription {
    add(subscriber, to: `protocol`, nil, at: Site(file: fileID, line: line))
  }
}
