/// Which subscriptions of a protocol succeed others, as long as that matters.
///
/// An object handles one notification of a protocol at a time, even if it has had several subscriptions.
/// If it subscribes again while a worker still attends the mailbox of its former subscription, the new
/// one is *held* until that worker leaves.
///
/// Invariant: `ended` has an entry for each subscription that was attended when it was terminated, until
/// the worker has left it. The subscription's `state` word orders the two: either the termination finds
/// it attended, or who leaves it finds it terminated. Where a worker waits for an executor, the thread that
/// terminated the subscription leaves in its place.
struct Succession: Sendable {
  private struct Entry: Sendable {
    let node: SubscriptionNode
    /// The subscription of the same object that is held meanwhile, if there is one.
    var held: SubscriptionNode?
  }

  /// Terminated subscriptions that are still attended, by the subscriber's address.
  private var ended = Shards<Entry>()
  /// The successors of subscriptions that themselves still awaited a hand-over, by those.
  private var forwarding: [ObjectIdentifier: SubscriptionNode] = [:]

  /// Adds a subscription that was terminated and is still attended.
  mutating func remember(_ node: SubscriptionNode) {
    // A present entry can only be of a dead object: one of the same object would have held this one.
    ended[node.address] = Entry(node: node)
  }

  /// Whether a terminated subscription of an object is still attended.
  ///
  /// - Parameter object: the object, which the caller keeps alive.
  /// - Returns: whether one is.
  func holds(_ object: AnyObject) -> Bool {
    ended[Int(bitPattern: ObjectIdentifier(object))]?.node.reference.refers(to: object) ?? false
  }

  /// Sets the subscription that is to be opened when the worker has left the terminated one.
  mutating func setHeld(_ held: SubscriptionNode) {
    ended[held.address]?.held = held
  }

  /// The subscription that is held for a terminated one.
  func held(for node: SubscriptionNode) -> SubscriptionNode? {
    guard let entry = ended[node.address], entry.node === node else { return nil }
    return entry.held
  }

  /// Removes a subscription that is no longer attended.
  ///
  /// - Returns: the one that was held for it, to be opened.
  mutating func forget(_ node: SubscriptionNode) -> SubscriptionNode? {
    guard let entry = ended[node.address], entry.node === node else { return nil }
    ended[node.address] = nil
    return entry.held
  }

  // MARK: Handing over

  /// Sets the successor to which a subscription forwards the notifications that it still awaits.
  mutating func forward(handOverTo node: SubscriptionNode, to successor: SubscriptionNode) {
    forwarding[ObjectIdentifier(node)] = successor
  }

  /// Takes out the successor to which a subscription forwards notifications.
  mutating func takeRecipient(of node: SubscriptionNode) -> SubscriptionNode? {
    forwarding.removeValue(forKey: ObjectIdentifier(node))
  }

  /// How many terminated subscriptions are still attended.
  var count: Int { ended.count }
}
