extension DelegateHub {
  /// How a hub refers to a subscriber.
  public struct Hold: Sendable, Hashable, CustomStringConvertible {
    private enum Code {
      case weakly
      case strongly
    }

    private let code: Code

    /// The hub does not keep the subscriber alive; when the subscriber dies, the subscription ends.
    public static let weakly = Hold(code: .weakly)

    /// The hub keeps the subscriber alive until it is cancelled, unsubscribed, or the hub is released.
    ///
    /// For proxies of remote objects, which nobody else holds, and for modules that the hub owns.
    public static let strongly = Hold(code: .strongly)

    /// How, in words.
    public var description: String { "\(code)" }
  }
}
