/// A further protocol that subscribers must conform to, beside the one that they subscribed to.
@usableFromInline
final class Narrowing: Sendable {
  /// The protocol's `ObjectIdentifier`.
  let key: ObjectIdentifier
  /// A further protocol that they must conform to as well.
  private let outer: Narrowing?
  private let find: @Sendable (AnyObject) -> Conformance

  init<P>(to type: P.Type, within outer: Narrowing?) {
    let key = ObjectIdentifier(type)
    self.key = key
    self.outer = outer
    find = { object in
      let subscriber = object as? P
      return Conformance(
        key: key,
        reference: subscriber.map { SharedReference(WeakReference($0, object: object)) })
    }
  }

  /// This protocol and the outer ones, this one first.
  var steps: some Sequence<Narrowing> {
    sequence(first: self) { $0.outer }
  }

  /// Finds out whether an object conforms, by a lookup of the runtime.
  ///
  /// Must not be called under a lock.
  func conformance(of object: AnyObject) -> Conformance { find(object) }
}

/// Whether a subscriber conforms to a further protocol, and a reference to it as that protocol.
struct Conformance: Sendable {
  /// The protocol's `ObjectIdentifier`.
  let key: ObjectIdentifier
  /// A reference to the subscriber as a value of the protocol; `nil` if it does not conform.
  let reference: SharedReference?
}

/// A weak reference that several owners share.
@usableFromInline
final class SharedReference: Sendable {
  @usableFromInline
  let reference: WeakReference

  init(_ reference: consuming WeakReference) {
    self.reference = reference
  }
}
