/// The subscribers that a call is for: those of a protocol, or those of them that conform to further ones.
///
/// They are called as `P`: the protocol that they subscribed to, or the last of the further ones.
@frozen
@usableFromInline
struct Audience<P>: Sendable {
  /// The protocol that they subscribed to.
  @usableFromInline
  let base: Any.Type
  /// The further protocols that they conform to; `nil` for all subscribers.
  @usableFromInline
  let narrowing: Narrowing?

  @usableFromInline
  static func stopAtClass() -> Never {
    fatalError(
      """
      DelegateHub: a call names \(P.self), which is a class, and would reach nobody. Name the protocol that the \
      subscribers subscribed to.
      """)
  }

  /// The subscribers of this audience that conform to a further protocol.
  func conforming<Narrower>(to type: Narrower.Type) -> Audience<Narrower> {
    Audience<Narrower>(base: base, narrowing: Narrowing(to: type, within: narrowing))
  }

  /// The key of the protocol that they subscribed to.
  @inlinable
  var key: ObjectIdentifier { ObjectIdentifier(base) }
}

extension Audience {
  /// All subscribers of a protocol.
  @inlinable
  init(_ type: P.Type) {
    // Of a type that the compiler knows, it knows this.
    if type is any AnyObject.Type { Self.stopAtClass() }
    base = type
    narrowing = nil
  }
}

extension SubscriptionNode {
  /// The subscriber, for a question.
  ///
  /// - Returns: `nil` if it is not in the audience, or if it has died, which terminates the subscription.
  @inlinable
  @inline(__always)
  func subscriber<P>(in audience: Audience<P>, for call: CallKind) -> P? {
    if let narrowing = audience.narrowing {
      return subscriber(as: P.self, conformingTo: narrowing, for: call)
    }
    return subscriber(as: P.self, for: call)
  }

  /// Calls the subscriber on the current thread, if its subscription is open, and counts that as an answer.
  ///
  /// - Returns: what the closure returned; `nil` if nobody was called.
  @inlinable
  @inline(__always)
  func call<P, R, E>(
    in audience: Audience<P>, for call: CallKind, watchedBy slowWatch: SlowWatch?,
    _ body: (P) throws(E) -> R
  ) throws(E) -> R? {
    // Begun first: that may call an executor's `enqueue`, and the subscription may end meanwhile.
    let ticket = slowWatch?.begin(self, in: call)
    defer { if let ticket { slowWatch?.end(ticket) } }
    guard beginCall() else { return nil }
    guard let subscriber = subscriber(in: audience, for: call) else {
      endCall(as: .unasked)
      return nil
    }
    do throws(E) {
      let response = try body(subscriber)
      endCall()
      return response
    } catch {
      endFailedCall()
      throw error
    }
  }
}
