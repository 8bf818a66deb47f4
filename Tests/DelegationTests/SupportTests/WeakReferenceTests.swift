import Testing

@testable import Delegation

extension Layouts {
  @Suite("WeakReference: a subscriber as the protocol it subscribed to, held weakly", .inTurn)
  struct WeakReferenceTests {
    @Test("protocols bound to objects are rebuilt, whatever conforms")
    func boundToObjects() {
      let said = "plain, bound"
      examine((any Bound).self, words: 2, make: Plain.init, say: { $0.bound() }, said)
      examine((any Bound).self, words: 2, make: Derived.init, say: { $0.bound() }, "derived, bound")
      examine((any Bound).self, words: 2, make: Person.init, say: { $0.bound() }, "person, bound")
      examine(
        (any Bound).self, words: 2, make: { Generic([1], $0) }, say: { $0.bound() },
        "Array<Int>, bound")
    }

    @Test("protocols that values may conform to are rebuilt if an object does")
    func notBoundToObjects() {
      examine((any Free).self, words: 5, make: Plain.init, say: { $0.free() }, "plain, free")
      examine((any Free).self, words: 5, make: Derived.init, say: { $0.free() }, "derived, free")
      examine((any Free).self, words: 5, make: Person.init, say: { $0.free() }, "person, free")
      examine((any Free).self, words: 5, make: Trouble.init, say: { $0.free() }, "trouble, free")
      examine(
        (any Free).self, words: 5, make: { Generic("", $0) }, say: { $0.free() }, "String, free")
    }

    @Test("a class, which is one word, has nothing kept beside the object's address")
    func oneWord() {
      for _ in 0..<10 {
        let subscriber = Nobody()
        let rest = WeakReference(subscriber, object: subscriber).rest
        #expect(rest == nil)
      }
    }

    @Test("compositions of three and of five are rebuilt")
    func compositions() {
      examine(
        (any One & Two & Three).self, words: 7, make: Derived.init,
        say: { $0.one() + $0.two() + $0.three() }, "123")
      examine(
        (any One & Two & Three & Bound & AlsoBound).self, words: 6, make: Derived.init,
        say: { $0.three() + $0.two() + $0.one() + $0.bound() + $0.alsoBound() },
        "321derived, boundderived, also bound")
      examine(
        (any One & Two & Three & Free & Source<Int>).self, words: 9, make: Derived.init,
        say: { $0.one() + $0.free() + "\($0.next())" }, "1derived, free42")
      examine(
        (any Error & Free).self, words: 6, make: Trouble.init, say: { $0.free() }, "trouble, free")
    }

    @Test("compositions with a superclass are rebuilt")
    func superclasses() {
      examine(
        (any Base & Bound).self, words: 2, make: Derived.init,
        say: { $0.whoAmI() + ", " + $0.bound() }, "derived, derived, bound")
      examine(
        (any Base & Bound & Free).self, words: 3, make: Derived.init,
        say: { $0.whoAmI() + ", " + $0.free() }, "derived, derived, free")
      examine(
        (any OfBase).self, words: 2, make: Derived.init,
        say: { $0.whoAmI() + ", " + $0.ofBase() }, "derived, derived, of base")
    }

    @Test("constrained existentials are rebuilt")
    func constrained() {
      examine((any Source<Int>).self, words: 5, make: Plain.init, say: { "\($0.next())" }, "7")
      examine((any Source<Int>).self, words: 5, make: Derived.init, say: { "\($0.next())" }, "42")
      examine(
        (any Source<String>).self, words: 5, make: { Generic("s", $0) }, say: { $0.next() }, "s")
      examine((any BoundSource<Int>).self, words: 2, make: Plain.init, say: { "\($0.next())" }, "7")
      examine(
        (any BoundSource<Int> & Bound).self, words: 3, make: Derived.init,
        say: { "\($0.next()), \($0.bound())" }, "42, derived, bound")
    }

    @Test("classes, subclasses seen as their superclass, and actors are rebuilt")
    func classes() {
      examine(Plain.self, words: 1, make: Plain.init, say: { $0.free() }, "plain, free")
      examine(Base.self, words: 1, make: Base.init, say: { $0.whoAmI() }, "base")
      examine(Base.self, words: 1, make: Derived.init, say: { $0.whoAmI() }, "derived")
      examine(Person.self, words: 1, make: Person.init, say: { $0.free() }, "person, free")
      examine(
        Generic<Int>.self, words: 1, make: { Generic(9, $0) }, say: { "\($0.next())" }, "9")
    }

    @Test("types without a method are rebuilt")
    func bare() {
      let say: @Sendable (AnyObject) -> String = { ($0 as? any Free)?.free() ?? "nothing" }
      examine(AnyObject.self, words: 1, make: Plain.init, say: say, "plain, free")
      examine((any Actor).self, words: 2, make: Person.init, say: say, "person, free")
      examine(
        (any Sendable).self, words: 4, make: Plain.init, say: { say($0 as AnyObject) },
        "plain, free")
      examine(Any.self, words: 4, make: Plain.init, say: { say($0 as AnyObject) }, "plain, free")
    }

    @Test("an error, which its existential keeps in a box, is cast")
    func boxed() {
      examine(
        (any Error).self, words: 1, rebuilds: false, make: Trouble.init,
        say: { ($0 as? Trouble)?.free() ?? "nothing" }, "trouble, free")
    }

    @Test("an error is subscribed for as long as it lives, not as long as its box does")
    func boxedSubscriber() async {
      let census = Census()
      let hub = DelegateHub()
      var trouble: Trouble? = Trouble(census)
      let subscription = hub.subscribe(trouble!, to: (any Error).self)
      #expect(subscription.isActive)
      #expect(hub[(any Error).self].subscribers.count == 1)
      trouble = nil
      #expect(!subscription.isActive)
      #expect(census.alive == 0)
    }

    @Test("it refers to its object and to no other")
    func refersTo() {
      let census = Census()
      let (one, other) = (Plain(census), Plain(census))
      let reference = WeakReference(one as any Bound, object: one)
      #expect(reference.refers(to: one) == true)
      #expect(reference.refers(to: other) == false)
      #expect(reference.identity == ObjectIdentifier(one))
    }

    @Test("it does not refer to an object that lives where a dead one did")
    func reusedAddress() {
      let census = Census()
      for _ in 0..<1000 {
        var object: Plain? = Plain(census)
        let reference = WeakReference(object! as any Bound, object: object!)
        object = nil
        let successor = Plain(census)
        guard reference.identity == ObjectIdentifier(successor) else { continue }
        let isSame = reference.refers(to: successor)
        #expect(!isSame)
        #expect(reference.load(as: (any Bound).self) == nil)
        #expect(reference.isAlive == false)
        return
      }
      Issue.record("no address was used twice")
    }

    // MARK: What holds for every layout

    /// Puts a reference to a subscriber through everything.
    private func examine<P, Subscriber: AnyObject>(
      _ type: P.Type, words: Int, rebuilds: Bool = true, make: (Census) -> Subscriber,
      say: @escaping (P) -> String, _ said: String,
      at location: SourceLocation = #_sourceLocation
    ) {
      let census = Census()
      var object: Subscriber? = make(census)
      let identity = ObjectIdentifier(object!)
      var strong: P? = object as? P
      let reference = WeakReference(strong!, object: object!)
      #expect(MemoryLayout<P>.size == words * MemoryLayout<Int>.size, sourceLocation: location)
      #expect(reference.rebuilds == rebuilds, sourceLocation: location)
      #expect(reference.refers(to: object!) == true, sourceLocation: location)

      // Loads give the same object, with its own implementation, and change no count.
      var wrong = 0
      for _ in 0..<10_000 {
        let loaded = reference.load(as: P.self) as? Subscriber
        if loaded.map(ObjectIdentifier.init) != identity { wrong += 1 }
      }
      #expect(wrong == 0, sourceLocation: location)
      #expect(reference.load(as: P.self).map(say) == said, sourceLocation: location)
      #expect(census.alive == 1, sourceLocation: location)
      #expect(reference.isAlive == true, sourceLocation: location)

      // What was loaded keeps the object alive by itself, however often it is copied.
      var loaded = (0..<10).compactMap { _ in reference.load(as: P.self) }
      (strong, object) = (nil, nil)
      #expect(census.alive == 1, sourceLocation: location)
      loaded += loaded
      loaded.removeFirst(19)
      #expect(loaded.map(say) == [said], sourceLocation: location)
      #expect(census.alive == 1, sourceLocation: location)
      loaded.removeAll()

      // The last one gone, so is the object.
      #expect(census.alive == 0, sourceLocation: location)
      #expect(reference.isAlive == false, sourceLocation: location)
      #expect(reference.load(as: P.self).map(say) == nil, sourceLocation: location)
    }
  }
}
