/// The subscriptions of a protocol that have ended and are still attended, and who waits for that.
///
/// An object handles one notification of a protocol at a time, even if it has had several subscriptions.
/// If it subscribes again while a worker still attends the mailbox of its former subscription, the new
/// one is *held* until that worker leaves. An *heir*, which has taken the id of an ended one, waits for its
/// worker only while that may give back the notification that it has taken.
///
/// Invariant: `ended` has an entry for each subscription that was attended when it was terminated, until
/// the worker has left it. The subscription's `state` word orders the two: either the termination finds
/// it attended, or who leaves it finds it terminated. Where a worker waits for an executor, the thread that
/// terminated the subscription leaves in its place.
struct Succession: Sendable {
  struct Entry: Sendable {
    let node: SubscriptionNode
    /// The subscription of the same object that is held meanwhile, if there is one.
    var held: SubscriptionNode?
    /// The subscription that is to take over what is pending, if it waits for that.
    var heir: SubscriptionNode?
  }

  /// By the subscriber's address.
  private var ended = Shards<Entry>()

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

  /// Sets who is to take over what is pending when the worker has left the terminated one.
  ///
  /// - Parameters:
  ///   - heir: the newest that is to have it; if it has ended, a newer one sets itself.
  ///   - node: the terminated one.
  mutating func setHeir(_ heir: SubscriptionNode, of node: SubscriptionNode) {
    guard heir.isOpen, ended[node.address]?.node === node else { return }
    ended[node.address]?.heir = heir
  }

  /// The subscription that is held for a terminated one.
  func held(for node: SubscriptionNode) -> SubscriptionNode? {
    guard let entry = ended[node.address], entry.node === node else { return nil }
    return entry.held
  }

  /// Removes a subscription that is no longer attended.
  ///
  /// - Returns: who waits for that.
  mutating func forget(_ node: SubscriptionNode) -> Entry? {
    guard let entry = ended[node.address], entry.node === node else { return nil }
    ended[node.address] = nil
    return entry
  }

  /// How many terminated subscriptions are still attended.
  var count: Int { ended.count }
}
