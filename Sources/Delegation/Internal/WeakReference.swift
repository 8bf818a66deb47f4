/// A weak reference to a subscriber that gives it back as the protocol it subscribed to, for the
/// price of the bare weak load.
///
/// A value of type `P` that holds an object, be `P` an existential or a class, begins with the
/// object's address; what follows (witness tables, and for an existential that is not
/// `AnyObject`-bound the rest of its buffer and the type) never changes and owns nothing. So these
/// words are kept as an *image*, unretained, beside an ordinary weak reference. To load, the strong
/// reference that the weak load yields is given to the image: the object is alive, because that
/// reference says so, and the image's value owns exactly that one reference.
///
/// The image is kept only if the value looks as described; any other layout (a boxed existential such
/// as `any Error`) goes through a cast, which is slower and always right.
///
/// This is the one file of the library with unsafe memory code.
///
/// `@unchecked Sendable`: everything is written in `init`, before anyone else has the reference; after
/// that only the runtime writes, clearing `object`, which it does atomically.
@usableFromInline
struct WeakReference: ~Copyable, @unchecked Sendable {
  /// The subscriber, or `nil` once it has begun to die.
  @usableFromInline
  weak var object: AnyObject?

  /// The words of the value that was subscribed, not counted as a reference; `nil` for the cast.
  @usableFromInline
  let image: UnsafeMutableRawPointer?

  /// Where the subscriber lives while it is alive.
  let identity: ObjectIdentifier

  /// Refers to a subscriber as the protocol it subscribes to.
  ///
  /// - Parameters:
  ///   - subscriber: the subscriber as a value of the protocol's type.
  ///   - object: the same subscriber as an object.
  init<P>(_ subscriber: P, object: AnyObject) {
    self.object = object
    identity = ObjectIdentifier(object)
    image = Self.makeImage(of: subscriber, address: Unmanaged.passUnretained(object).toOpaque())
  }

  deinit {
    image?.deallocate()
  }

  /// Whether the value is rebuilt rather than cast.
  ///
  /// For tests.
  var rebuilds: Bool { image != nil }

  /// Whether the subscriber is alive.
  ///
  /// The load takes a strong reference for a moment, which may turn out to be the last: the
  /// subscriber's `deinit` then runs here. Never call it under a lock or on the hub's actor.
  var isAlive: Bool { object != nil }

  /// Whether this refers to that very object, and not to a dead one that lived at its address.
  ///
  /// - Parameter other: an object that the caller keeps alive, so that no `deinit` can run here:
  ///   the reference yields that object or nothing.
  /// - Returns: whether it does.
  func refers(to other: AnyObject) -> Bool {
    identity == ObjectIdentifier(other) && object === other
  }

  /// The subscriber, if it is alive.
  ///
  /// The reference returned may turn out to be the last: never call it under a lock or on the hub's
  /// actor.
  ///
  /// - Parameter type: the type that the subscriber was subscribed as.
  /// - Returns: the subscriber, or `nil` if it has begun to die.
  @inlinable
  @inline(__always)
  func load<P>(as type: P.Type) -> P? {
    guard let object else { return nil }
    guard let image else { return (object as! P) }
    // The image now owns the reference, and moving out of it hands it on: no count is touched twice.
    _ = Unmanaged.passRetained(object)
    return image.assumingMemoryBound(to: P.self).move()
  }

  private static func makeImage<P>(
    of subscriber: P, address: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer? {
    let word = MemoryLayout<UnsafeRawPointer>.size
    let size = MemoryLayout<P>.size
    guard size >= word, size % word == 0, MemoryLayout<P>.alignment == word else { return nil }
    return withUnsafePointer(to: subscriber) { pointer in
      let bytes = UnsafeRawPointer(pointer)
      guard bytes.load(as: UnsafeRawPointer?.self) == UnsafeRawPointer(address) else { return nil }
      let image = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: word)
      image.copyMemory(from: bytes, byteCount: size)
      return image
    }
  }
}
