import Synchronization
import Testing

@testable import Delegation

@Suite("Topic: ids that change while they are compared")
struct TopicSameIdentityTests {
  /// An id that is equal to another one of its name, and does something while it is compared.
  ///
  /// All of them have one hash.
  private struct Name: Hashable {
    let name: String
    var onComparison: @Sendable () -> Void = {}

    static func == (one: Name, other: Name) -> Bool {
      one.onComparison()
      other.onComparison()
      return one.name == other.name
    }

    func hash(into hasher: inout Hasher) {}
  }

  @Test("one that is given another id while an unsubscription compares the former is not ended")
  func unsubscribing() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let hasChanged = Atomic<Bool>(false)
    let node = Structures.subscribe(subscriber, in: board, identity: Identity(Name(name: "a")))
    let name = Name(name: "a") {
      if hasChanged.exchange(true, ordering: .sequentiallyConsistent) { return }
      _ = Structures.subscribe(subscriber, in: board, identity: Identity(Name(name: "b")))
    }
    board.terminate(identifiedBy: Identity(name))
    #expect(node.isOpen)
    board.terminate(identifiedBy: Identity(Name(name: "a")))
    #expect(node.isOpen)
    board.terminate(identifiedBy: Identity(Name(name: "b")))
    #expect(!node.isOpen)
  }

  @Test("one that is given another id while a newcomer compares the former is not displaced")
  func takingOver() {
    let board = Switchboard()
    defer { board.clear() }
    let (subscriber, newcomer) = (Nobody(), Nobody())
    let hasChanged = Atomic<Bool>(false)
    let node = Structures.subscribe(subscriber, in: board, identity: Identity(Name(name: "a")))
    let name = Name(name: "a") {
      if hasChanged.exchange(true, ordering: .sequentiallyConsistent) { return }
      _ = Structures.subscribe(subscriber, in: board, identity: Identity(Name(name: "b")))
    }
    let other = Structures.subscribe(newcomer, in: board, identity: Identity(name))
    #expect([node.isOpen, other.isOpen] == [true, true])
    #expect(other.serial != node.serial)
  }

  @Test("an id is released by the one who ends its use, under no lock")
  func released() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let looks = Recorder<Int?>()
    for _ in 0..<3 {
      // Its last reference dies in one of these calls; a lock that is held there is never passed.
      let id = DyingID { looks.record(board.index(of: Structures.key)?.population) }
      let node = Structures.subscribe(subscriber, in: board, identity: Identity(id))
      _ = Structures.subscribe(subscriber, in: board, identity: Identity("b"))
      node.terminate(as: .cancelled)
    }
    for _ in 0..<3 {
      let id = DyingID { looks.record(board.index(of: Structures.key)?.population) }
      Structures.subscribe(subscriber, in: board, identity: Identity(id))
        .terminate(as: .cancelled)
    }
    #expect(looks.history.count == 6)
  }
}

/// An id that does something when it dies.
private final class DyingID: Hashable, Sendable {
  private let notice: DeathNotice

  init(_ onDeath: @escaping @Sendable () -> Void) {
    notice = DeathNotice(onDeath)
  }

  static func == (one: DyingID, other: DyingID) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(1) }
}
