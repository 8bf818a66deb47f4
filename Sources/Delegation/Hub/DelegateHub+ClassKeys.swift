// Subscriptions and calls name a protocol. If the type is a class, or a generic parameter that stands for
// one, overload resolution prefers these overloads, and the compiler warns. It would skip an unavailable
// overload. An existential does not match: `any DoorDelegate` is no class, though its values are objects.
// At run time they do what the others do: `subscribe` stops the program, and a call reaches nobody.

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
    add(
      subscriber, to: `protocol`, SubscriptionOptions(subscriber: subscriber),
      at: Site(file: fileID, line: line))
  }

  /// Warns that the type is not a protocol, so that nobody is called.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this calls on a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func notify<P: AnyObject & Sendable>(
    _ protocol: P.Type, _ body: @escaping @Sendable (P) throws -> Void
  ) {
    notify(among: Audience(`protocol`), body)
  }

  /// Warns that the type is not a protocol, so that nobody is called.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - body: what to do with each subscriber.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this calls on a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func notify<P: AnyObject & Sendable>(
    _ protocol: P.Type, _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) {
    notify(among: Audience(`protocol`), body)
  }

  /// Warns that the type is not a protocol, so that nobody is called.
  ///
  /// **Order**, **Isolation**, **Cancellation** and **Errors.** As with ``notifyAndWait(_:within:_:)``.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - duration: how long to wait at most.
  ///   - body: what to do with each subscriber.
  /// - Returns: no leftovers.
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "this calls on a class, which reaches nobody; name a protocol: DoorDelegate.self"
  )
  @discardableResult
  public nonisolated func notifyAndWait<P: AnyObject & Sendable>(
    _ protocol: P.Type, within duration: Duration? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
  ) async -> Leftovers {
    await notifyAndWait(
      among: Audience(`protocol`), by: deadline(within: duration, in: "notifyAndWait(_:within:_:)"),
      body)
  }
}
