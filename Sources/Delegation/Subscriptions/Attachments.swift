/// What only few subscriptions have: options that the user named, and facts that the library has recorded.
///
/// All of it is released when the subscription is terminated, except the count of missed answers. It takes
/// one word if it is empty, as in most subscriptions.
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

  /// What the library has recorded about a subscriber.
  private struct Record: Sendable {
    /// The version of each option, if the object has subscribed again.
    var versions = OptionVersions()
    /// One for each further protocol of a call; there are few.
    var conformances: [Conformance] = []
    /// How often the subscriber gave no answer.
    var misses = Misses()
  }

  private final class Extended: Sendable {
    let contents: Contents?
    let record: Record

    init(_ contents: Contents?, _ record: Record) {
      self.contents = contents
      self.record = record
    }
  }

  private enum Storage: Sendable {
    case nothing
    case contents(Contents)
    case extended(Extended)
  }

  private var storage: Storage

  private var contents: Contents? {
    switch storage {
    case .nothing: nil
    case .contents(let contents): contents
    case .extended(let extended): extended.contents
    }
  }

  private var record: Record {
    get { if case .extended(let extended) = storage { extended.record } else { Record() } }
    set { storage = .extended(Extended(contents, newValue)) }
  }

  /// Makes attachments without options, as a new or a terminated subscription has.
  init(misses: Misses = Misses()) {
    storage = .nothing
    if misses != Misses() { self.misses = misses }
  }

  /// Makes the attachments of a new subscription from its options.
  init(_ options: SubscriptionOptions) {
    let isNothing = options.held == nil && options.id == nil && options.executor == nil
    storage =
      isNothing ? .nothing : .contents(Contents(options.held, options.id, options.executor))
  }

  /// The subscriber, if the hub keeps it alive.
  var subscriber: (any Sendable)? { contents?.subscriber }
  /// The id, if one was given.
  var id: Identity? { contents?.id }
  /// The executor of its handlers, if one was named.
  var executor: (any TaskExecutor)? { contents?.executor }

  /// How often the subscriber gave no answer.
  var misses: Misses {
    get { record.misses }
    set { record.misses = newValue }
  }

  /// Applies options, except those that were changed by a newer version.
  ///
  /// - Parameters:
  ///   - options: the options of a repeated subscription.
  ///   - version: its position in the order in which options were given.
  /// - Returns: the options that were applied.
  mutating func change(by options: SubscriptionOptions, version: Int) -> SubscriptionOptions {
    var changed = record
    let newest = changed.versions.admit(options, version: version)
    let contents = Contents(
      newest.hold == nil ? subscriber : newest.held, newest.id ?? id, newest.executor ?? executor)
    storage = .extended(Extended(contents, changed))
    return newest
  }

  /// Whether the subscriber conforms to a protocol, if that has been looked up.
  func conformance(for key: ObjectIdentifier) -> Conformance? {
    guard case .extended(let extended) = storage else { return nil }
    return extended.record.conformances.first { $0.key == key }
  }

  /// Adds a conformance, unless another thread has added it meanwhile.
  mutating func add(_ conformance: Conformance) {
    guard self.conformance(for: conformance.key) == nil else { return }
    record.conformances.append(conformance)
  }
}

/// The newest version of each option of a subscription, because options may be applied out of order.
private struct OptionVersions: Sendable {
  private var id = 0
  private var hold = 0
  private var policy = 0
  private var executor = 0

  /// Records the version of options.
  ///
  /// - Returns: the options that are newer than what was recorded before.
  mutating func admit(_ options: SubscriptionOptions, version: Int) -> SubscriptionOptions {
    var newest = options
    func admit<Option>(_ option: inout Option?, _ latest: inout Int) {
      if option == nil { return }
      if version > latest { latest = version } else { option = nil }
    }
    admit(&newest.id, &id)
    admit(&newest.hold, &hold)
    admit(&newest.policy, &policy)
    admit(&newest.executor, &executor)
    return newest
  }
}
