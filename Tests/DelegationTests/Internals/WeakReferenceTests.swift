import Testing

@testable import Delegation

/// A subscriber as the protocol it subscribed to, held weakly: the one place with unsafe memory code.
@Suite("WeakReference", .inTurn(.heavy))
struct WeakReferenceTests {
  private let lifetimes = Lifetimes()

  @Test("a value of each layout is rebuilt, or cast if it is in a box; a load changes no count")
  func layouts() {
    let bare: (AnyObject) -> String = { ($0 as? any Free)?.free() ?? "nothing" }
    examine((any Bound).self, 2, Plain.init) { $0.bound() == "plain" }
    examine((any Bound).self, 2, Derived.init) { $0.bound() == "derived" }
    examine((any Bound).self, 2, Person.init) { $0.bound() == "person" }
    examine((any Free).self, 5, Plain.init) { $0.free() == "plain" }
    examine((any Free).self, 5, Person.init) { $0.free() == "person" }
    examine((any Free).self, 5, Boxed.init) { $0.free() == "boxed" }
    examine((any One & Free).self, 6, Derived.init) { $0.one() + $0.free() == "1derived" }
    examine((any One & Bound & Free).self, 4, Derived.init) {
      $0.bound() + $0.one() + $0.free() == "derived1derived"
    }
    examine((any Error & Free).self, 6, Boxed.init) { $0.free() == "boxed" }
    examine((any Base & Bound).self, 2, Derived.init) { $0.name + $0.bound() == "derivedderived" }
    examine((any Base & Bound & Free).self, 3, Derived.init) { $0.free() == "derived" }
    examine((any Source<Int>).self, 5, Plain.init) { $0.next() == 7 }
    examine((any Source<Int>).self, 5, Derived.init) { $0.next() == 42 }
    examine(Plain.self, 1, Plain.init) { $0.free() == "plain" }
    examine(Base.self, 1, Derived.init) { $0.name == "derived" }
    examine(Person.self, 1, Person.init) { $0.free() == "person" }
    examine(AnyObject.self, 1, Plain.init) { bare($0) == "plain" }
    examine((any Actor).self, 2, Person.init) { bare($0) == "person" }
    examine((any Sendable).self, 4, Plain.init) { bare($0 as AnyObject) == "plain" }
    examine(Any.self, 4, Plain.init) { bare($0 as AnyObject) == "plain" }
    examine((any Error).self, 1, Boxed.init, rebuilds: false) {
      ($0 as? Boxed)?.free() == "boxed"
    }
  }

  /// Puts a reference to a subscriber through everything.
  private func examine<P, Subscriber: AnyObject>(
    _ type: P.Type, _ words: Int, _ make: (Lifetimes) -> Subscriber, rebuilds: Bool? = nil,
    at location: SourceLocation = #_sourceLocation, _ isRight: (P) -> Bool
  ) {
    var object: Subscriber? = make(lifetimes)
    let identity = ObjectIdentifier(object!)
    var strong: P? = object as? P
    let reference = WeakReference(strong!, object: object!)
    let alive = lifetimes.alive
    var wrong = 0
    for _ in 0..<10_000 {
      let loaded = reference.load(as: P.self)
      if (loaded as? Subscriber).map(ObjectIdentifier.init) != identity { wrong += 1 }
    }
    let isRebuilt = reference.isRebuilt
    #expect(MemoryLayout<P>.size == words * MemoryLayout<Int>.size, sourceLocation: location)
    #expect(wrong == 0 && isRebuilt == (rebuilds ?? (words <= 2)), sourceLocation: location)
    #expect(lifetimes.alive == alive, sourceLocation: location)
    // What was loaded keeps the object alive by itself, however often it is copied.
    var loaded = (0..<10).compactMap { _ in reference.load(as: P.self) }
    (strong, object) = (nil, nil)
    loaded += loaded
    loaded.removeFirst(19)
    #expect(loaded.map(isRight) == [true], sourceLocation: location)
    #expect(lifetimes.alive == alive, sourceLocation: location)
    loaded.removeAll()
    // The last one gone, so is the object.
    let isGone = !reference.isAlive && reference.load(as: P.self) == nil
    #expect(isGone && lifetimes.alive == alive - 1, sourceLocation: location)
  }

  @Test("a load that meets the last reference's end yields a live object or nothing")
  func meetsTheEnd() {
    var alive = 0
    for _ in races(300) {
      let held = Lock<[any Bound & Free]>([Plain(lifetimes), Person(lifetimes)])
      let references = held.withLock { References($0[0], $0[1]) }
      let (meeting, wrong) = (Meeting(of: 3), Count())
      let seen = Count()
      Threads.run(3) { thread in
        meeting.await(0)
        if thread == 0 {
          for _ in 0..<5 { _ = references.say() }
          let released = held.withLock { held in
            defer { held = [] }
            return held
          }
          return withExtendedLifetime(released) {}
        }
        while case let said = references.say(), !said.isEmpty {
          seen.add(1)
          if said != "plain plain person" { wrong.add(1) }
        }
        // Once dead, always dead.
        if !references.say().isEmpty { wrong.add(1) }
      }
      #expect(wrong.value == 0 && lifetimes.alive == 0)
      alive += seen.value
    }
    #expect(alive > 0)
  }

  @Test("it refers to its object and to no other, also to none that lives where a dead one did")
  func refersTo() {
    for _ in 0..<1000 {
      var object: Plain? = Plain(lifetimes)
      let reference = WeakReference(object! as any Bound, object: object!)
      let refers = [reference.refers(to: object!), reference.refers(to: Plain(lifetimes))]
      #expect(refers == [true, false])
      object = nil
      let successor = Plain(lifetimes)
      guard reference.identity == ObjectIdentifier(successor) else { continue }
      let isTaken = reference.refers(to: successor) || reference.load(as: (any Bound).self) != nil
      #expect(!isTaken)
      return
    }
    Issue.record("no address was used twice")
  }
}

/// References that several threads share.
private final class References: Sendable {
  let bound: WeakReference
  let free: WeakReference
  let person: WeakReference

  init(_ bound: any Bound & Free, _ person: any Bound & Free) {
    self.bound = WeakReference(bound as any Bound, object: bound)
    free = WeakReference(bound as any Free, object: bound)
    self.person = WeakReference(person as any Free, object: person)
  }

  /// What those say that are alive.
  func say() -> String {
    guard let bound = bound.load(as: (any Bound).self), let free = free.load(as: (any Free).self),
      let person = person.load(as: (any Free).self)
    else { return "" }
    return "\(bound.bound()) \(free.free()) \(person.free())"
  }
}

private protocol Bound: AnyObject, Sendable { func bound() -> String }
private protocol Free: Sendable { func free() -> String }
private protocol One: Sendable { func one() -> String }
private protocol Source<Element>: Sendable {
  associatedtype Element
  func next() -> Element
}

private class Base: @unchecked Sendable {
  private let life: Lifetimes.Tracked
  init(_ lifetimes: Lifetimes) { life = lifetimes.make() }
  var name: String { "base" }
}

private final class Derived: Base, Bound, Free, One, Source, @unchecked Sendable {
  override var name: String { "derived" }
  func bound() -> String { "derived" }
  func free() -> String { "derived" }
  func one() -> String { "1" }
  func next() -> Int { 42 }
}

private final class Plain: Bound, Free, Source {
  private let life: Lifetimes.Tracked
  init(_ lifetimes: Lifetimes) { life = lifetimes.make() }
  func bound() -> String { "plain" }
  func free() -> String { "plain" }
  func next() -> Int { 7 }
}

private actor Person: Bound, Free {
  private let life: Lifetimes.Tracked
  init(_ lifetimes: Lifetimes) { life = lifetimes.make() }
  nonisolated func bound() -> String { "person" }
  nonisolated func free() -> String { "person" }
}

/// A class that is an error: `any Error` keeps it in a box.
private final class Boxed: Error, Free {
  private let life: Lifetimes.Tracked
  init(_ lifetimes: Lifetimes) { life = lifetimes.make() }
  func free() -> String { "boxed" }
}
