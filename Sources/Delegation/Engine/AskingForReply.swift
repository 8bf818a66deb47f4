/// A question for each subscriber's own result: what one answers or throws becomes a ``DelegateHub/Reply``.
@frozen
@usableFromInline
struct AskingForReply<Inner: Asking>: Asking {
  @usableFromInline
  let inner: Inner

  @inlinable
  init(_ inner: Inner) { self.inner = inner }

  @inlinable
  @inline(__always)
  func answer(
    of node: SubscriptionNode, in question: Question?
  ) async -> Answer<DelegateHub.Reply<Inner.Response>, Never> {
    switch await inner.answer(of: node, in: question) {
    case .response(let response), .substitute(let response):
      .response(.init(of: node, result: .success(response)))
    case .failure(let error): .response(.init(of: node, result: .failure(error)))
    case .absence: .absence
    }
  }

  @inlinable
  var late: @Sendable (SubscriptionNode) -> Answer<DelegateHub.Reply<Inner.Response>, Never> {
    { .response(.init(of: $0, result: .failure(DelegateHub.ReplyError.timedOut))) }
  }
}

extension DelegateHub {
  /// One subscriber's own result of `collect`.
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
