/// What the user gave us for a subscription, and what has been found out about its subscriber; released
/// when the subscription ends.
///
/// One word if it is nothing, as with most subscriptions; what was found out, and in which order options
/// came, costs only those subscriptions that it is about.
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

  /// The contents of one that subscribed again, or was called by further protocols.
  private final class Record: Sendable {
    let contents: Contents?
    /// Since when each option has been as it is.
    let versions: OptionVersions
    /// One for each of these protocols; there are few.
    let conformances: [Conformance]

    init(_ contents: Contents?, _ versions: OptionVersions, _ conformances: [Conformance]) {
      self.contents = contents
      self.versions = versions
      self.conformances = conformances
    }
  }

  private enum Storage: Sendable {
    case nothing
    case contents(Contents)
    case record(Record)
  }

  private var storage: Storage

  private var contents: Contents? {
    switch storage {
    case .nothing: nil
    case .contents(let contents): contents
    case .record(let record): record.contents
    }
  }

  private var record: Record? {
    if case .record(let record) = storage { record } else { nil }
  }

  /// Nothing.
  init() {
    storage = .nothing
  }

  /// What the options of a new subscription name.
  init(_ options: SubscriptionOptions) {
    self.init(options.held, options.id, options.executor)
  }

  private init(
    _ subscriber: (any Sendable)?, _ id: Identity?, _ executor: (any TaskExecutor)?
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

  /// Changes what options name, unless newer ones have named it.
  ///
  /// - Parameters:
  ///   - options: what was said when the object subscribed again.
  ///   - version: the order in which options were given.
  /// - Returns: those of the options that no newer ones have named.
  mutating func change(by options: SubscriptionOptions, version: Int) -> SubscriptionOptions {
    var versions = record?.versions ?? OptionVersions()
    let newest = versions.admit(options, version: version)
    let changed = Attachments(
      newest.hold == nil ? subscriber : newest.held, newest.id ?? id, newest.executor ?? executor)
    storage = .record(Record(changed.contents, versions, record?.conformances ?? []))
    return newest
  }

  // MARK: Conformances

  /// What has been found out about the subscriber and a protocol.
  func conformance(for key: ObjectIdentifier) -> Conformance? {
    record?.conformances.first { $0.key == key }
  }

  /// Keeps what has been found out, unless somebody else has found it out meanwhile.
  mutating func add(_ conformance: Conformance) {
    guard self.conformance(for: conformance.key) == nil else { return }
    storage = .record(
      Record(
        contents, record?.versions ?? OptionVersions(),
        (record?.conformances ?? []) + [conformance]))
  }
}

/// In which order a subscription's options were given, for they may come in another one.
private struct OptionVersions: Sendable {
  private var id = 0
  private var hold = 0
  private var policy = 0
  private var executor = 0

  /// Notes that options have come.
  ///
  /// - Returns: those that are newer than what has come before.
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
