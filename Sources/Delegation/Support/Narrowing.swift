/// A further protocol that subscribers must conform to, beside the one that they subscribed to.
///
/// Whether one conforms is looked up by a cast each time: 60 ns, where a reference that is kept would cost half of
/// that, and memory. Must not be looked up under a lock. A mailbox with a limit keeps what it has found, by protocol.
@usableFromInline
final class Narrowing: Sendable {
  /// A further protocol that they must conform to as well.
  private let outer: Narrowing?
  private let key: ObjectIdentifier
  private let find: @Sendable (AnyObject) -> WeakReference?

  init<P>(to type: P.Type, within outer: Narrowing?) {
    self.outer = outer
    key = ObjectIdentifier(type)
    find = { object in
      guard let subscriber = object as? P else { return nil }
      return WeakReference(subscriber, object: object)
    }
  }

  /// Whether an object conforms to the outer protocols.
  @usableFromInline
  func outerAdmit(_ object: AnyObject) -> Bool {
    guard let outer else { return true }
    return outer.reference(to: object) != nil
  }

  /// A reference to an object as a value of the protocol; `nil` if it does not conform to it and the outer ones.
  func reference(to object: AnyObject) -> WeakReference? {
    outerAdmit(object) ? find(object) : nil
  }

  /// To which of the protocols an object conforms.
  func conformances(of object: AnyObject) -> [ObjectIdentifier: Bool] {
    var conformances = outer?.conformances(of: object) ?? [:]
    conformances[key] = find(object) != nil
    return conformances
  }

  /// Whether an object conforms to all of the protocols; `nil` if too little is known.
  ///
  /// - Parameter conformances: what is known of it.
  /// - Returns: whether it does.
  func admits(by conformances: [ObjectIdentifier: Bool]) -> Bool? {
    guard let conforms = conformances[key] else { return nil }
    return conforms ? outer.map { $0.admits(by: conformances) } ?? true : false
  }
}
