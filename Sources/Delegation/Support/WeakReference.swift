internal import Synchronization

/// A weak reference to a subscriber, which is loaded as the protocol that it subscribed to, for the price of a bare
/// weak load.
///
/// A value of type `P` that holds an object begins with the object's address. The rest, such as a witness table, never
/// changes and owns nothing. So the words of the value are kept, unretained, as an *image* beside an ordinary weak
/// reference. A load moves the strong reference of the weak load into the image: this reference proves that the object
/// is alive, and the rebuilt value owns exactly this reference.
///
/// The image is kept only of a value that has one or two words, the first of which is the object's address: a class
/// reference, or the existential of a protocol of objects. For any other value each load casts the object, which is
/// slower and always right.
///
/// No other file has unsafe memory code, but for two casts in `DelegateHub+Asking` and `HandlerContext`.
///
/// `@unchecked Sendable`: everything is written in `init`, before the reference is shared. After that only
/// the runtime writes: it clears `object`, atomically.
@usableFromInline
struct WeakReference: ~Copyable, @unchecked Sendable {
  /// The subscriber, or `nil` once it has begun to die.
  @usableFromInline
  weak var object: AnyObject?

  @usableFromInline
  typealias Word = UnsafeMutableRawPointer?
  /// A value's words: the object's address, and the second word, if any.
  @usableFromInline
  typealias Words = (UnsafeMutableRawPointer, Word)

  /// The subscriber's address; another object may have it once the subscriber has died.
  let identity: ObjectIdentifier

  /// The value's second word, if it has one; for a ``BoundSubscriber`` the owner's address.
  @usableFromInline
  let rest: Word
  /// Whether a load rebuilds the value from the object's address and `rest`, instead of casting the object.
  @usableFromInline
  let isRebuilt: Bool

  /// The owner's address, if the subscriber is a ``BoundSubscriber``.
  var owner: Int? { isRebuilt || rest == nil ? nil : Int(bitPattern: rest) }

  /// Makes a reference to a subscriber, given as a value of its protocol's type and as an object.
  init<P>(_ subscriber: borrowing P, object: borrowing AnyObject) {
    let object = copy object
    self.object = object
    identity = ObjectIdentifier(object)
    // A `BoundSubscriber` is never rebuilt: each load checks its owner, too.
    if let bound = object as? BoundSubscriber {
      // A dying owner cannot be loaded any more; the subscriber's own address then stands for the owner's.
      (isRebuilt, rest) = (false, Unmanaged.passUnretained(bound.owner ?? bound).toOpaque())
    } else {
      let words = Self.words(of: subscriber)
      isRebuilt = words?.0 == Unmanaged.passUnretained(object).toOpaque()
      rest = isRebuilt ? words?.1 : nil
    }
  }

  /// Whether the subscriber is alive; must not be called under a lock: see ``living``.
  @usableFromInline
  var isAlive: Bool { living != nil }

  /// The subscriber, if it and its owner, if any, are alive.
  ///
  /// The load takes a strong reference for a moment, which may turn out to be the last: then the subscriber's `deinit`
  /// runs here. Must not be called under a lock.
  @usableFromInline
  var living: AnyObject? {
    guard let object else { return nil }
    if owner != nil, (object as? BoundSubscriber)?.owner == nil { return nil }
    return object
  }

  /// Whether this refers to an object, and not to a dead one that had the same address.
  ///
  /// The caller must keep `other` alive: so the load, which returns `other` or `nil`, runs no `deinit`.
  func refers(to other: AnyObject) -> Bool {
    identity == ObjectIdentifier(other) && object === other
  }

  /// The subscriber; `nil` if it has begun to die.
  ///
  /// The returned reference may turn out to be the last: must not be called under a lock. `type` must be the type that
  /// the subscriber was subscribed as.
  @inlinable
  @inline(__always)
  func load<P>(as type: P.Type) -> P? {
    if !isRebuilt { return Self.cast(living) }
    guard let object else { return nil }
    // `words` now owns the reference, and the move transfers it to the result: one retain in all.
    var words: Words = (Unmanaged.passRetained(object).toOpaque(), rest)
    return withUnsafeMutableBytes(of: &words) {
      $0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: P.self).move()
    }
  }

  @inlinable
  @inline(never)
  static func cast<P>(_ object: AnyObject?) -> P? { object.map { $0 as! P } }

  /// The words of a value; `nil` unless it has one or two words.
  private static func words<P>(of subscriber: borrowing P) -> Words? {
    let word = MemoryLayout<UnsafeRawPointer>.size
    let (size, alignment) = (MemoryLayout<P>.size, MemoryLayout<P>.alignment)
    guard size == word || size == 2 * word, alignment == word else { return nil }
    return withUnsafeBytes(of: subscriber) { bytes in
      let second = size > word ? bytes.load(fromByteOffset: word, as: Word.self) : nil
      return bytes.load(as: Word.self).map { ($0, second) }
    }
  }
}

/// A reference that is set once and read by any thread without a lock.
///
/// The object is retained until this reference is released. So a reader must keep alive what contains the reference.
/// `AtomicLazyReference` does the same, but its generic code is not specialized: a load takes 700 instructions.
struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let word = Atomic<Unmanaged<Object>?>(nil)

  /// Returns the object that is set; if none is, first sets the given one.
  func load(orSetting object: Object? = nil) -> Object? {
    if let present = word.load(ordering: .acquiring) { return present.takeUnretainedValue() }
    guard let object else { return nil }
    let new = Unmanaged.passRetained(object)
    let former = word.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing)
      .original
    guard let former else { return object }
    new.release()
    return former.takeUnretainedValue()
  }

  deinit { word.load(ordering: .acquiring)?.release() }
}

/// Removes the isolation from a synchronous closure's type; call the result on the closure's actor, if it has one.
///
/// With the isolation, the closure could only be called by `await`. A task that prefers an executor would then leave
/// the actor, and return later, between its last check and the call.
///
/// This is sound for the same reason as `MainActor.assumeIsolated`: a function is a pointer to code and one to its
/// context, and is called in the same way whatever its isolation. All types are generic parameters, so that the
/// compiler passes the closure unchanged.
@inlinable
func unisolated<P, R, E>(
  _ body: @escaping @isolated(any) @Sendable (P) throws(E) -> R
) -> @Sendable (P) throws(E) -> R {
  unsafeBitCast(body, to: (@Sendable (P) throws(E) -> R).self)
}

@inlinable
func unisolated<P, V, R, E>(
  _ body: @escaping @isolated(any) @Sendable (P, V) throws(E) -> R
) -> @Sendable (P, V) throws(E) -> R {
  unsafeBitCast(body, to: (@Sendable (P, V) throws(E) -> R).self)
}

/// A subscriber that counts as dead once another object, its owner, is dead; see ``WeakReference/living``.
///
/// A class, not a protocol, because loads cast to it, and a cast to a class is cheap.
///
/// `@unchecked Sendable`: `owner` is written in `init`, and after that only by the runtime. Subclasses add constants
/// only.
class BoundSubscriber: @unchecked Sendable {
  private(set) weak var owner: AnyObject?

  init(to owner: AnyObject) { self.owner = owner }
}

/// The subscribers that a call is for: those of a protocol, or only those that conform to further protocols, too.
///
/// The call sees them as `P`: the protocol that they subscribed to, or the last of the further ones.
@frozen
@usableFromInline
struct Recipients<P>: Sendable {
  /// The protocol that the recipients subscribed to.
  @usableFromInline
  let base: Any.Type
  /// Whether a subscriber conforms to the call's further protocols; `nil` if there are none.
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
    Recipients<Narrower>(base: base) { [admits] in admits?($0) ?? true && $0 is Narrower }
  }
}

extension Recipients {
  @inlinable
  init(_ type: P.Type) {
    // The compiler decides this check where it knows `P`.
    if type is any AnyObject.Type { Self.stopAtClass() }
    base = type
    admits = nil
  }

  /// The subscriber, if it is alive and conforms to the further protocols.
  @_alwaysEmitIntoClient @inline(__always)
  func load(_ reference: borrowing WeakReference) -> P? {
    if admits == nil { return reference.load(as: P.self) }
    return loadIfAdmitted(reference)
  }

  /// The subscriber, if alive and admitted; inlined, this would make calls without further protocols dearer.
  @inlinable
  @inline(never)
  func loadIfAdmitted(_ reference: borrowing WeakReference) -> P? {
    reference.living.flatMap { admits?($0) == true ? $0 as? P : nil }
  }
}

/// Whether an object conforms to further protocols; not to be called under a lock.
@usableFromInline
typealias RecipientFilter = @Sendable (AnyObject) -> Bool
