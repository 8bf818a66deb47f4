/// What few subscriptions have: what the caller gave us for one, released when that ends, and how often
/// it gave no answer.
///
/// One word if it is nothing, as with most subscriptions.
struct Attachments: Sendable {
  private final class Contents: Sendable {
    let subscriber: (any Sendable)?
    let id: Identity?
    let executor: (any TaskExecutor)?
    let misses: Misses

    init(
      _ subscriber: (any Sendable)?, _ id: Identity?, _ executor: (any TaskExecutor)?,
      _ misses: Misses
    ) {
      self.subscriber = subscriber
      self.id = id
      self.executor = executor
      self.misses = misses
    }
  }

  private var contents: Contents?

  init(
    subscriber: (any Sendable)? = nil, id: Identity? = nil, executor: (any TaskExecutor)? = nil,
    misses: Misses = Misses()
  ) {
    let isNothing = subscriber == nil && id == nil && executor == nil && misses == Misses()
    contents = isNothing ? nil : Contents(subscriber, id, executor, misses)
  }

  /// The subscriber itself if the hub is to keep it alive.
  var subscriber: (any Sendable)? { contents?.subscriber }
  /// Who this is, if not the object.
  var id: Identity? { contents?.id }
  /// Where its handlers run, if not where the hub says.
  var executor: (any TaskExecutor)? { contents?.executor }
  /// How often the subscriber gave no answer.
  var misses: Misses {
    get { contents?.misses ?? Misses() }
    set { self = Attachments(subscriber: subscriber, id: id, executor: executor, misses: newValue) }
  }

  /// The same with another id.
  func identified(by id: Identity?) -> Attachments {
    Attachments(subscriber: subscriber, id: id, executor: executor, misses: misses)
  }

  /// The same for a subscription that has missed questions already.
  func with(_ misses: Misses) -> Attachments {
    guard misses != self.misses else { return self }
    return Attachments(subscriber: subscriber, id: id, executor: executor, misses: misses)
  }
}
