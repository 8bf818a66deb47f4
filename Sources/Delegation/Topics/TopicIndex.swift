/// What a topic keeps under its lock: the end of its chain, and its subscriptions.
///
/// Everything in here but ``keep(_:)`` takes constant time, amortised.
///
/// Invariant: `open` has exactly the open subscriptions, and no two of one address. So a notification posted now is
/// addressed to `open.count` subscriptions.
struct TopicIndex: Sendable {
  /// The empty end of the chain.
  private var placeholder = Notification()
  /// The notifications that are replayed to new subscriptions, as a ring of at most `limit`, which began with the
  /// number `first` at index 0; `nil` if none are kept.
  private var kept: (ring: [Notification], first: Int, limit: Int)?
  /// The open subscriptions by the subscriber's address.
  ///
  /// The subscriber of an entry may have died unnoticed.
  private(set) var open = ShardedDictionary<SubscriptionNode>()
  var members = MemberList()
  /// The open subscriptions whose subscriber has an owner, by the owner's address.
  private(set) var owned = ShardedDictionary<[Int: SubscriptionNode]>()
  /// The ended subscriptions that are not in the sums (`counts` and `questions`) yet, by the subscriber's address or
  /// its owner's.
  ///
  /// Invariant: each subscription is open, is here, or is in the sums. The thread that ends a subscription moves it to
  /// the sums; if a handler still runs then, the thread that ends the last handler does. The subscription's `state`
  /// says which thread.
  private(set) var ended = ShardedDictionary<[SubscriptionNode]>()
  /// The sums: the accounts of the ended subscriptions that are not in `ended`.
  private(set) var counts = Account()
  private(set) var questions = QuestionAccount()
  /// The open subscriptions with ids, by the ids' hashes.
  private(set) var named = ShardedDictionary<[SubscriptionNode]>()
  /// The open replacements, by the serial number of their place.
  var replacements = ShardedDictionary<SubscriptionNode>()
  /// The remembered sites of subscriptions; at most ``mostRemembered``.
  private var sites: [SubscribeSite] = []
  private var lastSerial = 0
  /// The waiters of the loops over `demand`, resumed when the first subscription begins, the last ends, or the protocol
  /// is finished.
  var watchers: [Waiter] = []
  /// How many watchers there may be before those that no longer wait are removed.
  private var mostWatchers = 16
  /// The needed numbers of answers that were reported as *tooFew*, and not reached since; at most ``mostRemembered``.
  private var shortages: [Int] = []
  private(set) var posted = 0
  /// Whether the protocol is finished: nothing more is posted, and a new subscription ends after what is replayed.
  var isClosed = false
  var receipts = ReceiptQueue()
  /// To how many subscriptions the notifications were addressed, in sum; replays and questions to streams count, too.
  private(set) var addressed = 0
  /// At how many open subscriptions to look for dead subscribers next.
  private var sweepPopulation = Self.smallestSweep
  /// Whether a delivery has been requested that will see what is posted now.
  var isDeliveryDue = false
  var effects: [Effect] = []

  /// How many ended or dead subscriptions are worth the work that frees their memory.
  static let smallestSweep = 512

  /// How many sites are remembered, and how many *tooFew* incidents; beyond 64 sites, each subscription has its own.
  static let mostRemembered = 64

  // MARK: Telling

  /// Appends a notification.
  ///
  /// The caller retains the content until after the lock, in case nothing else does.
  ///
  /// - Returns: what is no longer kept for replays, for the caller to release after the lock.
  mutating func post(
    _ content: Notification.Content, to topic: Int, followedBy next: Notification
  ) -> Notification.Content? {
    placeholder.fill(with: content, followedBy: next)
    let former = kept == nil ? nil : keepPosted()
    if let receipt = content.receipt {
      let position = (topic, posted, receipts.total)
      receipt.open(at: position, addressees: open.count)
      receipts.add(receipt, at: position)
    }
    placeholder = next
    posted += 1
    addressed += open.count
    return former
  }

  /// Counts a question that a stream passes over, as a notification that was addressed to it.
  mutating func addQuestion() { addressed += 1 }

  /// Notes that a rule needs more answers than it has found subscribers.
  ///
  /// - Returns: whether to report the number: not if it was reported, and not reached since, nor if too many are noted.
  mutating func noteShortage(of needed: Int) -> Bool {
    if shortages.contains(needed) || shortages.count == Self.mostRemembered { return false }
    if needed > open.count { shortages.append(needed) }
    return true
  }

  /// Forgets the reported *tooFew* numbers that the present number of subscribers reaches.
  mutating func forgetShortages() {
    if !shortages.isEmpty { shortages.removeAll { [count = open.count] in $0 <= count } }
  }

  /// Keeps for replays what is being posted; if the ring is full, this replaces the oldest, whose content is returned.
  @inline(never)
  private mutating func keepPosted() -> Notification.Content? {
    guard var kept = kept.take() else { return nil }
    defer { self.kept = kept }
    guard kept.ring.count == kept.limit else {
      kept.ring.append(placeholder)
      return nil
    }
    let index = (posted - kept.first) % kept.limit
    defer { kept.ring[index] = placeholder }
    return kept.ring[index].content
  }

  /// Whether any subscription gets what is posted now.
  var isWanted: Bool { !isClosed && open.count > 0 }

  /// Whether a post would be for anybody, or kept for replays.
  var hasAudience: Bool { !isClosed && (open.count > 0 || kept != nil) }

  /// Keeps the last `limit` notifications from now on for new subscriptions, or more if more were asked for before.
  mutating func keep(_ limit: Int) {
    let (ring, first, former) = kept ?? ([], posted, 0)
    if limit <= former { return }
    let sorted = ring.indices.map { ring[(posted - first + $0) % ring.count] }
    kept = (sorted, posted - ring.count, limit)
  }

  /// Stops keeping notifications.
  ///
  /// - Returns: the kept ones, to release after the lock.
  mutating func keepNone() -> [Notification] { kept.take()?.ring ?? [] }

  // MARK: Subscriptions

  /// Makes a mailbox that begins with the kept notifications, as many as its limit allows; without any, with the next
  /// post.
  func makeMailbox(_ policy: DelegateHub.MailboxPolicy) -> Mailbox {
    let (ring, first, limit) = kept ?? ([], 0, 1)
    let number = posted - min(ring.count, policy.limit ?? .max)
    let next = number == posted ? placeholder : ring[(number - first) % limit]
    var mailbox = Mailbox(at: next, number: number, policy: policy)
    mailbox.joined = posted
    if isClosed { mailbox.finish(at: posted) }
    return mailbox
  }

  /// The remembered site of a type and a line, or a new one.
  mutating func site(of type: any AnyObject.Type, at line: SubscribeSite.Line) -> SubscribeSite {
    if let known = sites.first(where: { $0.isOf(type, at: line) }) { return known }
    let site = SubscribeSite(type, at: line)
    if sites.count < Self.mostRemembered { sites.append(site) }
    return site
  }

  mutating func nextNumber() -> Int {
    lastSerial += 1
    return lastSerial
  }

  /// Adds the waiter of a loop over `demand`.
  ///
  /// - Complexity: O(1), amortised.
  mutating func addWatcher(_ waiter: Waiter) {
    if watchers.count >= mostWatchers {
      watchers.removeAll { $0.outcome != nil }
      mostWatchers = 2 * max(8, watchers.count)
    }
    watchers.append(waiter)
  }

  /// Adds a subscription; there must be none at its address.
  mutating func insert(
    _ node: SubscriptionNode, with options: SubscriptionOptions?, replaying replayed: Int
  ) {
    open[node.address] = node
    members.add(node)
    if let owner = node.reference.owner { Self.change(&owned[owner], node, isOwned: true) }
    if let id = options?.id { named[id.hash].add(node) }
    addressed += replayed
  }

  /// Begins the termination of an open subscription; if an idle one is cancelled, completes it; otherwise an effect
  /// does.
  ///
  /// No further notification is addressed to the subscription, and no call starts on it. `call` is the call that found
  /// the subscriber dead, if one did.
  mutating func terminate(
    _ node: SubscriptionNode, as termination: Termination, in call: CallKind? = nil,
    isReplaced: Bool = false
  ) {
    guard node.isOpen else { return }
    open[node.address] = nil
    if named.count > 0, let id = node.id { named[id.hash].remove(node) }
    if let owner = node.reference.owner { Self.change(&owned[owner], node, isOwned: false) }
    if replacements.count > 0, !isReplaced { replacements[node.serial] = nil }
    node.beginTermination(isReplaced: isReplaced)
    members.noteEnd()
    if termination == .cancelled, !isReplaced, let last = node.finishIfIdle(at: posted) {
      add(last.account)
      if let options = last.options { effects.append(.release(options)) }
    } else {
      effects.append(.finish(node, at: posted, as: termination, in: call))
      ended[node.endedAddress].add(node)
    }
    // After a peak, lowers the population at which dead subscribers are looked for.
    if sweepPopulation < .max {
      sweepPopulation = min(sweepPopulation, Swift.max(Self.smallestSweep, open.count * 4))
    }
  }

  private static func change(
    _ owned: inout [Int: SubscriptionNode]?, _ node: SubscriptionNode, isOwned: Bool
  ) {
    owned = owned ?? [:]
    owned?[Int(bitPattern: ObjectIdentifier(node))] = isOwned ? node : nil
    if owned?.isEmpty == true { owned = nil }
  }

  /// Adds the account of an ended subscription to the sums, once nothing of it runs.
  mutating func finish(_ node: SubscriptionNode, with account: (Account, QuestionAccount)) {
    if ended[node.endedAddress].remove(node) { add(account) }
  }

  private mutating func add(_ account: (Account, QuestionAccount)) {
    counts += account.0
    questions += account.1
  }

  // MARK: Memory

  /// Whether so many subscriptions have ended since the last merge that their memory is worth another merge.
  var isHeavy: Bool { members.endedCount >= Swift.max(Self.smallestSweep, open.count) }

  /// Whether it is time to look for dead subscribers; once true, false until ``didSweep(survivors:)``.
  mutating func takeSweep() -> Bool {
    guard open.count >= sweepPopulation else { return false }
    sweepPopulation = .max
    return true
  }

  /// Sets when to look for dead subscribers next: at twice the survivors, so that the work is proportional to the
  /// subscriptions made.
  mutating func didSweep(survivors: Int) {
    sweepPopulation = Swift.max(Self.smallestSweep, survivors * 2)
  }
}

extension [SubscriptionNode]? {
  fileprivate mutating func add(_ node: SubscriptionNode) {
    if self?.append(node) == nil { self = [node] }
  }

  /// Removes a subscription; returns whether the array had it.
  @discardableResult
  fileprivate mutating func remove(_ node: SubscriptionNode) -> Bool {
    guard let index = self?.firstIndex(where: { $0 === node }) else { return false }
    if self?.count == 1 { self = nil } else { self?.remove(at: index) }
    return true
  }
}

/// A dictionary in parts, which grow one at a time.
///
/// To grow, a dictionary moves all its elements: too long under a lock that others wait for. Parts are small.
struct ShardedDictionary<Value: Sendable>: Sendable {
  /// 16 parts; none before the first value.
  private var parts: [[Int: Value]] = []
  private(set) var count = 0

  /// The value for a key, which is an address or a hash.
  subscript(key: Int) -> Value? {
    get { parts.isEmpty ? nil : parts[part(of: key)][key] }
    // Modified in place: a value that is a collection is not copied.
    _modify {
      if parts.isEmpty { parts = Array(repeating: [:], count: 16) }
      let part = part(of: key)
      let former = parts[part].count
      defer {
        count += parts[part].count - former
        // A part shrinks after a peak, also because to go through all values takes time in proportion to the capacity.
        if parts[part].capacity > 64 + 8 * parts[part].count {
          parts[part] = Dictionary(uniqueKeysWithValues: parts[part].lazy.map { ($0, $1) })
        }
      }
      yield &parts[part][key]
    }
  }

  /// All values, in unspecified order.
  ///
  /// By a closure, because a key path of a generic type is made anew at each use, which takes thousands of
  /// instructions.
  var values: some Sequence<Value> { parts.lazy.flatMap { $0.values } }

  private func part(of key: Int) -> Int {
    // Multiplied as in ``TopicTable/find(_:orAdding:)``.
    Int(truncatingIfNeeded: (UInt64(bitPattern: Int64(key)) &* 0x9E37_79B9_7F4A_7C15) >> 60)
  }
}
