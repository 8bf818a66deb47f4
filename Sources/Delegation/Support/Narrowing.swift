/// A protocol that those who are called conform to, beside the one that they subscribed to.
@usableFromInline
final class Narrowing: Sendable {
  /// The protocol's `ObjectIdentifier`.
  let key: ObjectIdentifier
  /// They conform to this one, too.
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

  /// All protocols that are asked for, the last one first.
  var steps: some Sequence<Narrowing> {
    sequence(first: self) { $0.outer }
  }

  /// Finds out whether an object conforms.
  ///
  /// The runtime looks that up: not to be called under a lock.
  func conformance(of object: AnyObject) -> Conformance { find(object) }
}

/// Whether a subscriber conforms to a further protocol, and how it is referred to as that.
struct Conformance: Sendable {
  /// The protocol's `ObjectIdentifier`.
  let key: ObjectIdentifier
  /// The subscriber as a value of the protocol; `nil` if it does not conform.
  let reference: SharedReference?
}

/// A weak reference that several may have.
@usableFromInline
final class SharedReference: Sendable {
  @usableFromInline
  let reference: WeakReference

  init(_ reference: consuming WeakReference) {
    self.reference = reference
  }
}
