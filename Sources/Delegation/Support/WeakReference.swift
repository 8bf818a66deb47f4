internal import Synchronization

/// A weak reference to a subscriber that loads it as the protocol it subscribed to, for the price of the
/// bare weak load.
///
/// A value of type `P` that holds an object, be `P` an existential or a class, begins with the
/// object's address; what follows (witness tables, and for an existential that is not
/// `AnyObject`-bound the rest of its buffer and the type) never changes and owns nothing. So these
/// words are kept as an *image*, unretained, beside an ordinary weak reference. A load transfers the
/// strong reference of the weak load to the image: that reference proves that the object is alive, and
/// the image's value owns exactly that one reference.
///
/// The image is kept only if the value has that layout, and one word or two, as nearly all protocols have: the first
/// word is the object's address. Any other value (a boxed existential such as `any Error`, or one of several protocols)
/// is cast, which is slower and always right.
///
/// This is the one file of the library with unsafe memory code; ``unisolated(_:)`` is the other part of it.
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
  /// The object's address and what follows it.
  @usableFromInline
  typealias Words = (UnsafeMutableRawPointer, Word)

  /// The address of the subscriber while it is alive.
  let identity: ObjectIdentifier

  /// The second word, if it has one; of one that lives as long as its owner, the owner's address.
  @usableFromInline
  let rest: Word
  /// Whether the value is rebuilt from the object's address and `rest`; otherwise the object is cast.
  @usableFromInline
  let isRebuilt: Bool

  /// The address of the owner, if the subscriber lives as long as that.
  var owner: Int? { isRebuilt || rest == nil ? nil : Int(bitPattern: rest) }

  /// Refers to a subscriber as the protocol it subscribes to.
  ///
  /// - Parameters:
  ///   - subscriber: the subscriber as a value of the protocol's type.
  ///   - object: the same subscriber as an object.
  init<P>(_ subscriber: borrowing P, object: borrowing AnyObject) {
    let object = copy object
    self.object = object
    identity = ObjectIdentifier(object)
    // The image of one that stands for another object would not tell that this has died.
    if let bound = object as? BoundSubscriber {
      // An owner that is being released is dead, and has no address any more.
      (isRebuilt, rest) = (false, Unmanaged.passUnretained(bound.owner ?? bound).toOpaque())
    } else {
      let words = Self.words(of: subscriber)
      isRebuilt = words?.0 == Unmanaged.passUnretained(object).toOpaque()
      rest = isRebuilt ? words?.1 : nil
    }
  }

  /// Whether the subscriber is alive.
  ///
  /// Must not be called under a lock: see ``living``.
  @usableFromInline
  var isAlive: Bool { living != nil }

  /// The subscriber, if it is alive, and its owner too if it has one.
  ///
  /// The load takes a strong reference for a moment, which may turn out to be the last: then the
  /// subscriber's `deinit` runs here. Must not be called under a lock.
  @usableFromInline
  var living: AnyObject? {
    guard let object else { return nil }
    if owner != nil, (object as? BoundSubscriber)?.owner == nil { return nil }
    return object
  }

  /// Whether this refers to that very object, and not to a dead one that had the same address.
  ///
  /// - Parameter other: an object that the caller keeps alive, so that no `deinit` can run here: the
  ///   load returns that object or `nil`.
  /// - Returns: whether it does.
  func refers(to other: AnyObject) -> Bool {
    identity == ObjectIdentifier(other) && object === other
  }

  /// The subscriber, if it is alive.
  ///
  /// The returned reference may turn out to be the last: must not be called under a lock.
  ///
  /// - Parameter type: the type that the subscriber was subscribed as.
  /// - Returns: the subscriber, or `nil` if it has begun to die.
  @inlinable
  @inline(__always)
  func load<P>(as type: P.Type) -> P? {
    if !isRebuilt { return Self.cast(living) }
    guard let object else { return nil }
    // The image now owns the reference, and the move transfers it to the result: one retain in all.
    var words: Words = (Unmanaged.passRetained(object).toOpaque(), rest)
    return withUnsafeMutableBytes(of: &words) {
      $0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: P.self).move()
    }
  }

  @inlinable
  @inline(never)
  static func cast<P>(_ object: AnyObject?) -> P? { object.map { $0 as! P } }

  /// The words of a value; `nil` if it has not one or two of them.
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
/// It owns what it is set to until it is released itself, so what a reader finds is alive as long as the reader keeps
/// the owner of this. It is `AtomicLazyReference`, whose generic code is not specialized: a load there takes 700
/// instructions.
struct SetOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let word = Atomic<Unmanaged<Object>?>(nil)

  /// What it was set to; if it was not, it is set to an object, if one is given.
  func load(orSetting object: Object? = nil) -> Object? {
    if let present = word.load(ordering: .acquiring) { return present.takeUnretainedValue() }
    guard let object else { return nil }
    let new = Unmanaged.passRetained(object)
    let former = word.compareExchange(
      expected: nil, desired: new, ordering: .acquiringAndReleasing
    ).original
    guard let former else { return object }
    new.release()
    return former.takeUnretainedValue()
  }

  deinit { word.load(ordering: .acquiring)?.release() }
}

/// Takes the isolation off the type of a synchronous closure; to be called on the closure's actor, if it has one.
///
/// Otherwise it could be called by `await` only, and a task that prefers an executor would then leave the actor, and come
/// back later, between a look at what has happened and the call.
///
/// As `MainActor.assumeIsolated` does it, and for the same reason it is sound: a function is a pointer to code and one to
/// its context, and is called in the same way whatever its isolation, which only its context knows. All of the types are
/// parameters here, so that the compiler passes the closure as it is.
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

/// Whether an object conforms to further protocols; not to be called under a lock.
@usableFromInline
typealias RecipientFilter = @Sendable (AnyObject) -> Bool

/// A subscriber that lives as long as another object, its owner; see ``WeakReference/living``.
///
/// It is a class, and not a protocol, because each look at a subscriber casts to it.
///
/// `@unchecked Sendable`: the reference is written in `init`, and after that only by the runtime. Subclasses add
/// constants only.
class BoundSubscriber: @unchecked Sendable {
  private(set) weak var owner: AnyObject?

  init(to owner: AnyObject) {
    self.owner = owner
  }
}
