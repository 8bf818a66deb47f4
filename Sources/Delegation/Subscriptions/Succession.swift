/// The subscriptions of a protocol that have ended and whose handlers may run, and who waits for that.
///
/// An object handles one notification of a protocol at a time, even if it has had several subscriptions.
/// If it subscribes again while a worker still attends the mailbox of its former subscription, the new
/// one is *held* until that worker leaves.
///
/// The *object* of an ended one whose id was taken is kept, if the worker is about to call it or does: that
/// notification is not the successor's.
///
/// Invariant: `ended` has an entry for each subscription that was attended or asked when it was terminated, until
/// all that has ended. The subscription's `state` word orders the two: either the termination finds it busy, or who
/// leaves it finds it terminated.
struct Succession: Sendable {
  /// `@unchecked Sendable`: nobody uses `subscriber`, which is released where any worker may release one.
  struct Entry: @unchecked Sendable {
    let node: SubscriptionNode
    /// The subscription of the same object that is held meanwhile, if there is one.
    var held: SubscriptionNode?
    /// The subscriber, if it is kept.
    var subscriber: AnyObject?
  }

  /// By the subscriber's address, which several have if all but the last of their subscribers have died.
  private var ended = Shards<[Entry]>()

  /// Adds a subscription that was terminated and is busy.
  mutating func remember(_ node: SubscriptionNode) {
    ended[node.address] = (ended[node.address] ?? []) + [Entry(node: node)]
  }

  /// Holds a subscription if a terminated one of the same object is still attended.
  ///
  /// - Parameters:
  ///   - object: the object, which the caller keeps alive.
  ///   - make: makes the subscription; it is told whether it is held.
  /// - Returns: the subscription.
  mutating func add(
    _ object: AnyObject, _ make: (_ isHeld: Bool) -> SubscriptionNode
  ) -> SubscriptionNode {
    let address = Int(bitPattern: ObjectIdentifier(object))
    let index = ended[address]?.firstIndex {
      $0.node.isAttended && $0.node.reference.refers(to: object)
    }
    let node = make(index != nil)
    if let index { ended[address]?[index].held = node }
    return node
  }

  /// Keeps the subscriber of a terminated one until the worker has left.
  mutating func keep(_ subscriber: AnyObject, of node: SubscriptionNode) {
    guard let index = index(of: node) else { return }
    ended[node.address]?[index].subscriber = subscriber
  }

  /// The subscription that is held for a terminated one.
  func held(for node: SubscriptionNode) -> SubscriptionNode? {
    index(of: node).flatMap { ended[node.address]?[$0].held }
  }

  /// The terminated subscriptions at an address that are busy.
  func ended(at address: Int) -> [SubscriptionNode] { ended[address]?.map(\.node) ?? [] }

  /// Takes out who is held for a subscription, if that is no longer attended; removes it if it is not busy.
  mutating func release(_ node: SubscriptionNode) -> Entry? {
    guard !node.isAttended, let index = index(of: node), var entries = ended[node.address] else {
      return nil
    }
    let entry = entries[index]
    if node.isBusy { entries[index] = Entry(node: node) } else { entries.remove(at: index) }
    ended[node.address] = entries.isEmpty ? nil : entries
    return entry
  }

  private func index(of node: SubscriptionNode) -> Int? {
    ended[node.address]?.firstIndex { $0.node === node }
  }

  /// How many addresses there are.
  ///
  /// For tests.
  var count: Int { ended.count }
}
