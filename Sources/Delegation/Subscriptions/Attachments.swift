/// What few subscriptions have: what the user gave for one, and what has come to light about its
/// subscriber; released when the subscription ends, but for how often it gave no answer.
///
/// One word if it is nothing, as with most subscriptions; what has come to light costs only those that it
/// is about.
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

  /// What has come to light.
  private struct Record: Sendable {
    /// Since when each option has been as it is, if the object has subscribed again.
    var versions = OptionVersions()
    /// One for each further protocol that it was called by; there are few.
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

  /// Nothing, or nothing but what is left when the subscription has ended.
  init(misses: Misses = Misses()) {
    storage = .nothing
    if misses != Misses() { self.misses = misses }
  }

  /// What the options of a new subscription name.
  init(_ options: SubscriptionOptions) {
    let isNothing = options.held == nil && options.id == nil && options.executor == nil
    storage =
      isNothing ? .nothing : .contents(Contents(options.held, options.id, options.executor))
  }

  /// The subscriber itself if the hub is to keep it alive.
  var subscriber: (any Sendable)? { contents?.subscriber }
  /// Who this is, if not the object.
  var id: Identity? { contents?.id }
  /// Where its handlers run, if not where the hub says.
  var executor: (any TaskExecutor)? { contents?.executor }

  /// How often the subscriber gave no answer.
  var misses: Misses {
    get { record.misses }
    set { record.misses = newValue }
  }

  /// Changes what options name, unless newer ones have named it.
  ///
  /// - Parameters:
  ///   - options: what was said when the object subscribed again.
  ///   - version: the order in which options were given.
  /// - Returns: those of the options that no newer ones have named.
  mutating func change(by options: SubscriptionOptions, version: Int) -> SubscriptionOptions {
    var changed = record
    let newest = changed.versions.admit(options, version: version)
    let contents = Contents(
      newest.hold == nil ? subscriber : newest.held, newest.id ?? id, newest.executor ?? executor)
    storage = .extended(Extended(contents, changed))
    return newest
  }

  /// What has been found out about the subscriber and a protocol.
  func conformance(for key: ObjectIdentifier) -> Conformance? {
    guard case .extended(let extended) = storage else { return nil }
    return extended.record.conformances.first { $0.key == key }
  }

  /// Keeps what has been found out, unless somebody else has found it out meanwhile.
  mutating func add(_ conformance: Conformance) {
    guard self.conformance(for: conformance.key) == nil else { return }
    record.conformances.append(conformance)
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
