/// The subscriptions of a protocol that have ended and are not yet accounted for, and the sums of those that are.
///
/// An object handles one notification of a protocol at a time, even if it has had several subscriptions. If it
/// subscribes again while a worker still attends the mailbox of its former subscription, the new one is *held* until
/// that worker leaves.
///
/// The *object* of an ended one whose id was taken is kept, if the worker is about to call it or does: that
/// notification is not the successor's.
///
/// Invariant: each subscription is open, has an entry here, or is in the sums. An entry is removed by the thread that
/// finds that nothing of the subscription runs any more: who ended it, or who ends its last handler. The
/// subscription's `state` word orders the two: either the first finds it busy, or the second finds it terminated.
struct Endings: Sendable {
  /// `@unchecked Sendable`: nobody uses `subscriber`, which is released where any worker may release one.
  struct Entry: @unchecked Sendable {
    let node: SubscriptionNode
    /// The subscription of the same object that is held meanwhile, if there is one.
    var held: SubscriptionNode?
    /// The subscriber, if it is kept.
    var subscriber: AnyObject?
  }

  /// By the subscriber's address, which several have if all but the last of their subscribers have died.
  private var entries = Shards<[Entry]>()
  /// The sums of what became of the notifications and questions of those that have no entry any more.
  private(set) var counts = Account()
  private(set) var questions = QuestionAccount()

  /// Adds a subscription that is terminated in the same section.
  mutating func add(_ node: SubscriptionNode) {
    entries[node.address] = (entries[node.address] ?? []) + [Entry(node: node)]
  }

  /// The ended subscription of an object that a worker still attends, if there is one.
  ///
  /// - Parameter object: the object, which the caller keeps alive.
  /// - Returns: the subscription, for which a new one has to be held.
  func attended(_ object: AnyObject) -> SubscriptionNode? {
    entries[Int(bitPattern: ObjectIdentifier(object))]?.first {
      $0.node.isAttended && $0.node.reference.refers(to: object)
    }?.node
  }

  /// Holds a new subscription until the worker of an ended one has left.
  mutating func hold(_ new: SubscriptionNode, for node: SubscriptionNode) {
    guard let index = index(of: node) else { return }
    entries[node.address]?[index].held = new
  }

  /// Keeps the subscriber of an ended one until the worker has left.
  mutating func keep(_ subscriber: AnyObject, of node: SubscriptionNode) {
    guard let index = index(of: node) else { return }
    entries[node.address]?[index].subscriber = subscriber
  }

  /// The subscription that is held for an ended one.
  func held(for node: SubscriptionNode) -> SubscriptionNode? {
    index(of: node).flatMap { entries[node.address]?[$0].held }
  }

  /// The subscriptions at an address that have an entry.
  func nodes(at address: Int) -> [SubscriptionNode] { entries[address]?.map(\.node) ?? [] }

  /// All subscriptions that have an entry, in unspecified order.
  var nodes: [SubscriptionNode] { entries.values.flatMap { $0.map(\.node) } }

  /// Takes out who waits for an ended one, if no worker attends that any more; if it is final, adds its account to the
  /// sums, once, and removes the entry.
  ///
  /// - Parameters:
  ///   - node: the subscription.
  ///   - account: what became of its notifications and questions; `nil` as long as that is not final.
  /// - Returns: what the entry had, to be opened and released outside the lock.
  mutating func finish(
    _ node: SubscriptionNode, with account: (counts: Account, questions: QuestionAccount)?
  ) -> Entry? {
    guard !node.isAttended, let index = index(of: node) else { return nil }
    let entry = entries[node.address]?[index]
    guard let account else {
      entries[node.address]?[index] = Entry(node: node)
      return entry
    }
    counts += account.counts
    questions += account.questions
    if entries[node.address]?.count == 1 {
      entries[node.address] = nil
    } else {
      entries[node.address]?.remove(at: index)
    }
    return entry
  }

  private func index(of node: SubscriptionNode) -> Int? {
    entries[node.address]?.firstIndex { $0.node === node }
  }
}
