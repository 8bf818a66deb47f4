/// What the caller gave us for a subscription, let go when that ends.
///
/// One word if it is nothing, as with most subscriptions.
struct Attachments: Sendable {
  private final class Contents: Sendable {
    let subscriber: (any Sendable)?
    let id: Identity?
    let executor: (any TaskExecutor)?

    init(_ subscriber: (any Sendable)?, _ id: Identity?, _ executor: (any TaskExecutor)?) {
      self.subscriber = subscriber
      self.id = id
      self.executor = executor
    }
  }

  private let contents: Contents?

  init(
    subscriber: (any Sendable)? = nil, id: Identity? = nil, executor: (any TaskExecutor)? = nil
  ) {
    let isNothing = subscriber == nil && id == nil && executor == nil
    contents = isNothing ? nil : Contents(subscriber, id, executor)
  }

  /// The subscriber itself if the hub is to keep it alive.
  var subscriber: (any Sendable)? { contents?.subscriber }
  /// Who this is, if not the object.
  var id: Identity? { contents?.id }
  /// Where its handlers run, if not where the hub says.
  var executor: (any TaskExecutor)? { contents?.executor }

  /// The same with another id.
  func identified(by id: Identity?) -> Attachments {
    Attachments(subscriber: subscriber, id: id, executor: executor)
  }
}
