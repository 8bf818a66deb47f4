/// What the user gave us for a subscription, and what has been found out about its subscriber; released
/// when the subscription ends.
///
/// One word if it is nothing, as with most subscriptions; and what has been found out costs only those
/// that it was found out about.
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

  /// The contents of one that was called by further protocols.
  private final class Examined: Sendable {
    let contents: Contents?
    /// One for each of these protocols; there are few.
    let conformances: [Conformance]

    init(_ contents: Contents?, _ conformances: [Conformance]) {
      self.contents = contents
      self.conformances = conformances
    }
  }

  private enum Storage: Sendable {
    case nothing
    case contents(Contents)
    case examined(Examined)
  }

  private var storage: Storage

  private var contents: Contents? {
    switch storage {
    case .nothing: nil
    case .contents(let contents): contents
    case .examined(let examined): examined.contents
    }
  }

  init(
    subscriber: (any Sendable)? = nil, id: Identity? = nil, executor: (any TaskExecutor)? = nil
  ) {
    let isNothing = subscriber == nil && id == nil && executor == nil
    storage = isNothing ? .nothing : .contents(Contents(subscriber, id, executor))
  }

  /// The subscriber itself if the hub is to keep it alive.
  var subscriber: (any Sendable)? { contents?.subscriber }
  /// Who this is, if not the object.
  var id: Identity? { contents?.id }
  /// Where its handlers run, if not where the hub says.
  var executor: (any TaskExecutor)? { contents?.executor }

  /// The same with what options name.
  ///
  /// What they do not name stays as it is.
  func changed(by options: SubscriptionOptions) -> Attachments {
    var changed = Attachments(
      subscriber: options.hold.map { $0.isStrong ? options.subscriber : nil } ?? subscriber,
      id: options.id ?? id, executor: options.executor ?? executor)
    if case .examined(let examined) = storage {
      changed.storage = .examined(Examined(changed.contents, examined.conformances))
    }
    return changed
  }

  // MARK: Conformances

  /// What has been found out about the subscriber and a protocol.
  func conformance(for key: ObjectIdentifier) -> Conformance? {
    guard case .examined(let examined) = storage else { return nil }
    return examined.conformances.first { $0.key == key }
  }

  /// Keeps what has been found out, unless somebody else has found it out meanwhile.
  mutating func add(_ conformance: Conformance) {
    guard self.conformance(for: conformance.key) == nil else { return }
    switch storage {
    case .nothing: storage = .examined(Examined(nil, [conformance]))
    case .contents(let contents): storage = .examined(Examined(contents, [conformance]))
    case .examined(let examined):
      storage = .examined(Examined(examined.contents, examined.conformances + [conformance]))
    }
  }
}
