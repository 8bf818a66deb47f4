/// Which subscriptions of a protocol follow others, as long as that matters.
///
/// Of one protocol an object handles one notification at a time, by whichever of its subscriptions: who
/// subscribes anew while a worker still attends the mailbox of a former subscription is *held* until that
/// worker is done.
///
/// Invariant: `ended` has an entry for each subscription that was being attended when it ended, until the
/// worker has left it. Both are told by the subscription's `state` word: either the one who ends it
/// finds it attended, or the worker that leaves finds it closed.
struct Succession: Sendable {
  private struct Entry: Sendable {
    let node: SubscriptionNode
    /// The open subscription of the same object that is held meanwhile, if there is one.
    var held: SubscriptionNode?
  }

  /// By the subscriber's address.
  private var ended = GradualTable<ObjectIdentifier, Entry>()
  /// Who is to have what a subscription inherits that has been succeeded itself meanwhile.
  private var forwarding: [ObjectIdentifier: SubscriptionNode] = [:]

  /// Remembers a subscription that has ended and is still being attended.
  mutating func remember(_ node: SubscriptionNode) {
    // One that is there can only be that of a dead object: an object's own would have held this one.
    ended[node.reference.identity] = Entry(node: node)
  }

  /// Whether a subscription of an object is still being attended though it has ended.
  ///
  /// - Parameter object: the object, which the caller keeps alive.
  /// - Returns: whether one is.
  func holds(_ object: AnyObject) -> Bool {
    ended[ObjectIdentifier(object)]?.node.reference.refers(to: object) ?? false
  }

  /// Sets who is to be released when the ended subscription of its object has been left.
  mutating func setHeld(_ held: SubscriptionNode) {
    ended.update(held.reference.identity) { $0?.held = held }
  }

  /// The subscription that is held for one that has ended.
  func held(for node: SubscriptionNode) -> SubscriptionNode? {
    guard let entry = ended[node.reference.identity], entry.node === node else { return nil }
    return entry.held
  }

  /// Forgets a subscription that is attended no longer.
  ///
  /// - Returns: the one that was held for it, to be released.
  mutating func forget(_ node: SubscriptionNode) -> SubscriptionNode? {
    guard let entry = ended[node.reference.identity], entry.node === node else { return nil }
    ended[node.reference.identity] = nil
    return entry.held
  }

  // MARK: Inheritances

  /// Notes who is to have what a subscription has yet to inherit.
  mutating func forward(handOverTo node: SubscriptionNode, to successor: SubscriptionNode) {
    forwarding[ObjectIdentifier(node)] = successor
  }

  /// Who is to have what a subscription has inherited too late.
  mutating func takeRecipient(of node: SubscriptionNode) -> SubscriptionNode? {
    forwarding.removeValue(forKey: ObjectIdentifier(node))
  }

  /// How many ended subscriptions are remembered.
  var count: Int { ended.count }
}
