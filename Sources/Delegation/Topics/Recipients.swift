/// The subscribers that a call is for: those of a protocol, or only those that conform to further protocols, too.
///
/// They are called as `P`: the protocol that they subscribed to, or the last of the further ones.
@frozen
@usableFromInline
struct Recipients<P>: Sendable {
  /// The protocol that they subscribed to.
  @usableFromInline
  let base: Any.Type
  /// Whether a subscriber conforms to the further protocols; `nil` for all subscribers.
  @usableFromInline
  let admits: RecipientFilter?

  @usableFromInline
  static func stopAtClass() -> Never {
    fatalError(
      """
      DelegateHub: a call names \(P.self), which is a class, and would reach nobody. Name the protocol that the \
      subscribers subscribed to.
      """)
  }

  /// The recipients that conform to a further protocol, too.
  func conforming<Narrower>(to type: Narrower.Type) -> Recipients<Narrower> {
    let outer = admits
    return Recipients<Narrower>(base: base) { outer?($0) ?? true && $0 is Narrower }
  }

  /// The key of the protocol that they subscribed to.
  @inlinable
  var key: ObjectIdentifier { ObjectIdentifier(base) }
}

extension Recipients {
  /// All subscribers of a protocol.
  @inlinable
  init(_ type: P.Type) {
    // The compiler decides this where it knows `P`.
    if type is any AnyObject.Type { Self.stopAtClass() }
    base = type
    admits = nil
  }

  /// The subscriber, if it is alive and conforms.
  @_alwaysEmitIntoClient @inline(__always)
  func load(_ reference: borrowing WeakReference) -> P? {
    if admits == nil { return reference.load(as: P.self) }
    return loadIfAdmitted(reference)
  }

  /// Not inlined, because that would make calls without further protocols dearer.
  @inlinable
  @inline(never)
  func loadIfAdmitted(_ reference: borrowing WeakReference) -> P? {
    reference.living.flatMap { admits?($0) == true ? $0 as? P : nil }
  }

  /// Calls the subscriber of a notification.
  @usableFromInline
  func tell(
    _ reference: borrowing WeakReference, _ body: (P) throws -> Void
  ) throws -> Notification.Fate {
    guard let subscriber = load(reference) else { return absence(of: reference) }
    try body(subscriber)
    return .handled
  }

  /// The fate of a notification when ``load(_:)`` gave `nil`: the subscriber died, or does not conform.
  @inlinable
  func absence(of reference: borrowing WeakReference) -> Notification.Fate {
    admits != nil && reference.isAlive ? .notAddressed : .expired
  }
}
