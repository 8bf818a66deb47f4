extension DelegateHub {
  /// One subscriber's own result of ``DelegateHub/collect(_:within:_:)``.
  public struct Reply<Value: Sendable>: Sendable {
    private let id: Identity?
    /// The subscriber's type, and the id it was subscribed with; the text is made each time it is read.
    public var subscriber: String { subscription.node.name(with: id) }
    /// The subscription that it was asked by.
    public let subscription: Subscription
    /// What its handler returned or threw; ``ReplyError/timedOut`` if it was late.
    public let result: Result<Value, any Error>

    @usableFromInline
    init(of node: SubscriptionNode, result: Result<Value, any Error>) {
      id = node.id
      subscription = Subscription(node: node)
      self.result = result
    }
  }

  /// Why a subscriber has no result of its own.
  public struct ReplyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The subscriber had not answered at the deadline.
    public static let timedOut = Self(
      description: "the subscriber had not answered at the deadline")

    /// What went wrong, in words.
    public let description: String
  }
}
