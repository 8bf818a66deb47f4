/// Whom a call is for: the subscribers of a protocol, or those of them that conform to further ones.
///
/// They are called as `P`, which is the protocol that they subscribed to, or the last of the further ones.
@usableFromInline
struct Audience<P>: Sendable {
  /// The protocol that they subscribed to.
  @usableFromInline
  let base: Any.Type
  /// What else they conform to; `nil` if that does not matter.
  @usableFromInline
  let narrowing: Narrowing?

  /// All subscribers of a protocol.
  @inlinable
  init(_ type: P.Type) {
    base = type
    narrowing = nil
  }

  private init(base: Any.Type, narrowing: Narrowing) {
    self.base = base
    self.narrowing = narrowing
  }

  /// Those that conform to a further protocol.
  func conforming<Narrower>(to type: Narrower.Type) -> Audience<Narrower> {
    Audience<Narrower>(base: base, narrowing: Narrowing(to: type, within: narrowing))
  }

  /// What the protocol that they subscribed to is known by.
  @inlinable
  var key: ObjectIdentifier { ObjectIdentifier(base) }
}

extension SubscriptionNode {
  /// The subscriber, for a question; `nil` if it is not in an audience or has died, in which case the subscription
  /// ends as expired.
  @inlinable
  @inline(__always)
  func subscriber<P>(in audience: Audience<P>, for call: CallKind) -> P? {
    if let narrowing = audience.narrowing {
      return subscriber(as: P.self, conformingTo: narrowing, for: call)
    }
    return subscriber(as: P.self, for: call)
  }
}
