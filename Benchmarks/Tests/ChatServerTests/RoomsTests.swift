import Delegation
import DelegationAdapters
import Logging
import Synchronization
import Testing

@testable import ChatServerKit

@Suite("Rooms", .timeLimit(.minutes(10)))
struct RoomsTests {
  private final class Member: RoomMember {
    let id: Int
    let executor: (any TaskExecutor)? = nil
    private let heard = Mutex<[Int]>([])

    init(id: Int = 0) {
      self.id = id
    }

    var numbers: [Int] { heard.withLock { $0 } }

    func receive(_ message: Message) async throws { receiveNow(message) }
    func receiveNow(_ message: Message) { heard.withLock { $0.append(message.number) } }
  }

  private let ann = User(name: "ann", role: .guest)

  @Test("a room that everybody has left is given back, one that somebody is in is not")
  func limit() async throws {
    let rooms = Rooms(engine: Engines.make(.hub), limit: 2)
    let tea = try #require(await rooms.enter("tea", as: .administrator))
    let coffee = try #require(await rooms.enter("coffee", as: .administrator))
    #expect(await rooms.enter("tea", as: .administrator) === tea)
    #expect(await rooms.enter("milk", as: .administrator) == nil)
    await rooms.leave(tea)
    #expect(await rooms.enter("milk", as: .administrator) == nil, "one is left in tea")
    await rooms.leave(tea)
    let milk = try #require(await rooms.enter("milk", as: .administrator))
    #expect(await rooms.enter("tea", as: .administrator) == nil)
    // Not in use any more, so there is nothing to be given back.
    await rooms.leave(tea)
    #expect(await rooms.enter("coffee", as: .administrator) === coffee)
    #expect(await rooms.enter("milk", as: .administrator) === milk)
  }

  @Test("guests leave rooms for those with a password, and they for administrators")
  func keptRooms() async throws {
    let rooms = Rooms(engine: Engines.make(.hub), limit: 16)
    for (role, places) in [(User.Role.guest, 12), (.member, 3), (.administrator, 1)] {
      for number in 1...places { #expect(await rooms.enter("\(role) \(number)", as: role) != nil) }
      #expect(await rooms.enter("one more", as: role) == nil)
    }
    #expect(await rooms.enter("member 1", as: .guest) != nil, "it is there already")
  }

  @Test("who is refused a room is in the log, since somebody may be using them up")
  func refusedRoom() async throws {
    let log = LogBook()
    let logger = Logger(label: "test") { _ in log }
    let engine = Engines.make(.hub)
    let chat = Chat(
      engine: engine, extensions: ExtensionShelf(engine: engine, makers: [], logger: logger),
      metrics: MetricsBook(), faults: FaultLog(logger), roomLimit: 4, roomsEach: (10, 50))
    let member = Member()
    for number in 1...3 {
      _ = try await chat.join("room\(number)", as: ann, with: member).get()
      #expect(log.lines == [])
    }
    await #expect(throws: Refusal("too many rooms")) {
      _ = try await chat.join("room4", as: ann, with: member).get()
    }
    #expect(log.lines == ["a room was refused name=ann role=guest"])
    let root = User(name: "root", role: .administrator)
    _ = try await chat.join("room4", as: root, with: member).get()
  }

  @Test(
    "who comes and goes through more rooms than there may be uses up none of them",
    arguments: EngineKind.allCases)
  func passingThrough(_ kind: EngineKind) async throws {
    let engine = Engines.make(kind)
    let rooms = Rooms(engine: engine, limit: 3)
    for number in 1...100 {
      let member = Member()
      let room = try #require(await rooms.enter("room \(number)", as: .administrator))
      #expect(await room.admit(member, as: ann) == 0)
      #expect(await room.post("hello", by: ann) == 1)
      await room.dismiss(member, as: ann)
      await rooms.leave(room)
    }
    if let accounts = await engine.accounts() {
      #expect(accounts.areBalanced)
      #expect(accounts.posted == 100, "what was posted in rooms that have ended stays counted")
    }
  }

  /// Does not come back from its first message.
  private final class Stuck: RoomMember {
    let id = 1
    let executor: (any TaskExecutor)? = nil
    private let dues = Mutex(Dues())
    /// How many it has heard, or heard that it has missed.
    let accountedFor = Atomic(0)
    private let gate = AsyncStream<Void>.makeStream()

    func expect(_ number: Int, after bytes: Int, in room: Int) {
      dues.withLock { $0.expect(number, after: bytes, in: room) }
    }
    func taken(in room: Int) -> Int { dues.withLock { $0.taken(in: room) } }
    func receive(_ message: Message) async throws {
      guard let missed = dues.withLock({ $0.take(message) }) else { return }
      accountedFor.add(missed + 1, ordering: .relaxed)
      for await _ in gate.stream {}
      while let missed = dues.withLock({ $0.finish(in: message.roomID) }) {
        accountedFor.add(missed, ordering: .relaxed)
      }
    }
    func receiveNow(_ message: Message) {}
    func open() { gate.continuation.finish() }
  }

  @Test("for a member that takes nothing so many bytes wait and no more, whatever the count allows")
  func bytes() async throws {
    let engine = try #require(Engines.make(.hub) as? HubEngine)
    let rooms = Rooms(engine: engine, limit: 1)
    let room = try #require(await rooms.enter("tea", as: .administrator))
    let (stuck, quick) = (Stuck(), Member(id: 2))
    _ = await room.admit(stuck, as: ann)
    _ = await room.admit(quick, as: ann)
    let text = String(repeating: "x", count: 4000)
    let limit = ServerConfiguration().backlogBytes
    for number in 1...900 {
      #expect(await room.post(text, by: ann) == number)
      while quick.numbers.count < number { await Task.yield() }
      let waiting = try #require(await engine.accounts()).waiting
      #expect(waiting * 4000 <= limit + limit / 8 + 2 * 4100)
    }
    #expect(quick.numbers == Array(1...900))
    let accounts = try #require(await engine.accounts())
    #expect(accounts.dropped > 0)
    #expect(accounts.cancelled == 0, "its subscription, which has its name, goes on")
    stuck.open()
    for hub in engine.hubs { #expect(await hub.drain().isEmpty) }
    #expect(await engine.accounts()?.areBalanced == true)
  }

  @Test(
    "who is behind hears of all that it has missed, though nobody speaks again", arguments: 20...60)
  func lastMissed(_ count: Int) async throws {
    let engine = try #require(Engines.make(.hub) as? HubEngine)
    let room = try #require(await Rooms(engine: engine, limit: 1).enter("tea", as: .guest))
    let stuck = Stuck()
    _ = await room.admit(stuck, as: ann)
    for _ in 1...count { _ = await room.post(String(repeating: "x", count: 4000), by: ann) }
    stuck.open()
    for hub in engine.hubs { #expect(await hub.drain().isEmpty) }
    #expect(stuck.accountedFor.load(ordering: .relaxed) == count)
  }

  @Test("who comes into a room expects the next message of that very room")
  func expectations() async throws {
    /// Keeps what it is told.
    final class Newcomer: RoomMember {
      let id = 3
      let executor: (any TaskExecutor)? = nil
      let expected = Mutex<[[Int]]>([])
      func expect(_ number: Int, after bytes: Int, in room: Int) {
        expected.withLock { $0.append([number, bytes, room]) }
      }
      func receive(_ message: Message) async throws {}
      func receiveNow(_ message: Message) {}
    }
    let rooms = Rooms(engine: Engines.make(.hub), limit: 2)
    let member = Newcomer()
    for _ in 1...2 {
      let room = try #require(await rooms.enter("tea", as: .administrator))
      #expect(await room.admit(member, as: ann) == 0)
      _ = await room.post("hello", by: ann)
      await room.dismiss(member, as: ann)
      #expect(await room.admit(member, as: ann) == 1)
      await room.dismiss(member, as: ann)
      await rooms.leave(room)
    }
    let size = "msg tea 1 ann hello\n".utf8.count
    #expect(
      member.expected.withLock { $0 } == [[1, 0, 1], [2, size, 1], [1, 0, 2], [2, size, 2]])
  }

  @Test("rooms one after another share a hub; what one of them heard the next does not")
  func hubs() async throws {
    let engine = try #require(Engines.make(.hub) as? HubEngine)
    for number in 1...100 {
      let audience = engine.makeAudience(of: "tea")
      let member = Member(id: number)
      audience.add(member)
      audience.post(Message(room: "tea", number: number, sender: "ann", text: "hello"))
      for hub in engine.hubs { #expect(await hub.drain().isEmpty) }
      #expect(member.numbers == [number])
      audience.remove(member)
      audience.close()
      while engine.hubsInUse > 0 { await Task.yield() }
    }
    #expect(engine.hubs.count == 2, "the extensions' and one for all rooms")
  }

  @Test(
    "history and presence forget a room that everybody has left", arguments: EngineKind.allCases)
  func forgetting(_ kind: EngineKind) async throws {
    let engine = Engines.make(kind)
    let rooms = Rooms(engine: engine, limit: 10)
    let history = History()
    let presence = Presence()
    await engine.add(history)
    await engine.add(presence)
    let member = Member()
    let room = try #require(await rooms.enter("tea", as: .administrator))
    _ = await room.admit(member, as: ann)
    _ = await room.post("hello", by: ann)
    // Both are told in order, so what follows is known when this is.
    while await engine.recent(10, in: "tea").count != 1 { await Task.yield() }
    while await engine.people(in: "tea") != ["ann"] { await Task.yield() }
    await room.dismiss(member, as: ann)
    await rooms.leave(room)
    while await !engine.recent(10, in: "tea").isEmpty { await Task.yield() }
    while await !engine.people(in: "tea").isEmpty { await Task.yield() }
    #expect(history.roomCount == 0)
    #expect(presence.roomCount == 0)
  }
}
