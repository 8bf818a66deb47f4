// As in DelegateHub+ClassKeys.swift.

extension DelegateHub {
  /// Warns that the type is not a protocol.
  ///
  /// - Parameter protocol: a class, or a generic parameter that stands for one.
  /// - Returns: calls that reach nobody.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// - Complexity: O(1).
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "calls on a class reach nobody; name a protocol: DoorDelegate.self"
  )
  public nonisolated func delegates<P: AnyObject & Sendable>(_ protocol: P.Type) -> Delegates<P> {
    Delegates(hub: self, audience: Audience(`protocol`))
  }
}

extension Delegates where P: AnyObject {
  /// Warns that the type is not a protocol.
  ///
  /// - Parameters:
  ///   - protocol: a class, or a generic parameter that stands for one.
  ///   - hub: the hub.
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message: "calls on a class reach nobody; name a protocol: Delegates<any DoorDelegate>()"
  )
  public init(_ protocol: P.Type = P.self, of hub: DelegateHub = DelegateHub()) {
    self.init(hub: hub, audience: Audience(`protocol`))
  }
}
