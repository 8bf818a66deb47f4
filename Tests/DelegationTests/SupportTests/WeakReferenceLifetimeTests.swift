import Synchronization
import Testing

@testable import Delegation

extension Layouts {
  @Suite("WeakReference: on several threads, and after its own end", .inTurn(.heavy))
  struct WeakReferenceLifetimeTests {
    @Test("a load that meets the last reference's end yields a live object or nothing")
    func meetsTheEnd() {
      let end = "plain, bound plain, free person, free"
      let seen = races(100).map { _ in race() }
      #expect(seen.allSatisfy { $0.isSubset(of: [end, ""]) }, "\(Set(seen.flatMap(\.self)))")
      #expect(seen.contains { $0.contains(end) })
    }

    /// Loads on two threads while a third lets go.
    private func race() -> Set<String> {
      let census = Census()
      let held = Lock<[any Bound & Free]>([Plain(census), Person(census)])
      let references = References(
        bound: held.withLock { $0[0] }, person: held.withLock { $0[1] })
      let arrived = Atomic<Int>(0)
      let seen = Lock<Set<String>>([])
      Threads.run(3) { thread in
        arrived.add(1, ordering: .sequentiallyConsistent)
        while arrived.load(ordering: .sequentiallyConsistent) < 3 { Threads.pause() }
        if thread == 0 {
          for _ in 0..<5 { _ = references.say() }
          let released = held.withLock { held in
            defer { held = [] }
            return held
          }
          withExtendedLifetime(released) {}
          return
        }
        var said = references.say()
        var all: Set = [said]
        while !said.isEmpty {
          said = references.say()
          all.insert(said)
        }
        // Once dead, always dead.
        if !references.say().isEmpty { all.insert("back from the dead") }
        seen.withLock { $0.formUnion(all) }
      }
      #expect(census.alive == 0)
      return seen.withLock { $0 }
    }

    @Test("loads from many threads leave the counts as they were")
    func manyLoads() {
      let census = Census()
      var plain: Plain? = Plain(census)
      let references = References(bound: plain!, person: plain!)
      Threads.run(3) { _ in
        var kept: [any Bound & Free] = []
        for round in rounds(3000) {
          if let loaded = references.bound.load(as: (any Bound).self) as? any Bound & Free {
            kept.append(loaded)
          }
          if round % 7 == 0 { kept.removeAll() }
        }
      }
      #expect(census.alive == 1)
      #expect(isKnownUniquelyReferenced(&plain))
      plain = nil
      #expect(census.alive == 0)
    }

    @Test("what was loaded outlives the reference")
    func outlivesReference() {
      let census = Census()
      var loaded: (any Free)?
      do {
        let strong = Plain(census)
        loaded = WeakReference(strong as any Free, object: strong).load(as: (any Free).self)
      }
      #expect(loaded?.free() == "plain, free")
      #expect(census.alive == 1)
      loaded = nil
      #expect(census.alive == 0)
    }

    @Test("references that come and go leave the counts as they were, alive or dead")
    func comeAndGo() {
      let census = Census()
      var strong: Plain? = Plain(census)
      for _ in 0..<1000 {
        let references = References(bound: strong!, person: strong!)
        #expect(references.bound.isAlive == true)
      }
      #expect(isKnownUniquelyReferenced(&strong))
      let references = References(bound: strong!, person: strong!)
      strong = nil
      #expect(census.alive == 0)
      #expect(references.bound.isAlive == false)
    }

    @Test("a reference alone does not keep the subscriber's memory: its deinit frees the image")
    func imagesAreFreed() {
      let census = Census()
      let strong = Plain(census)
      // A word that was freed is likely to be given out again; one that leaks never is.
      var addresses: Set<UInt> = []
      for _ in 0..<1000 {
        let reference = WeakReference(strong as any Free, object: strong)
        addresses.insert(UInt(bitPattern: reference.rest))
      }
      #expect(addresses.count < 100)
    }
  }

  /// References that several threads share.
  private final class References: Sendable {
    let bound: WeakReference
    let free: WeakReference
    let person: WeakReference

    init(bound: any Bound & Free, person: any Bound & Free) {
      self.bound = WeakReference(bound as any Bound, object: bound)
      free = WeakReference(bound as any Free, object: bound)
      self.person = WeakReference(person as any Free, object: person)
    }

    /// What those say that are alive: all of it while they are held, nothing once they are dead.
    func say() -> String {
      guard let bound = bound.load(as: (any Bound).self),
        let free = free.load(as: (any Free).self),
        let person = person.load(as: (any Free).self)
      else { return "" }
      return "\(bound.bound()) \(free.free()) \(person.free())"
    }
  }
}
