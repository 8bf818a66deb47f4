import Delegation
import Testing

@testable import stress

@Suite("Stress finds what is wrong, and nothing where all is well", .timeLimit(.minutes(10)))
struct StressTests {
  private static func world(_ seed: UInt64 = 1) -> World {
    World(seed: seed, tasks: 2, threads: 0, limits: Limits(duration: nil, events: 100))
  }

  @Test("a whole run, short and seeded, and its report")
  func run() async {
    let report = await Run(seed: 7, tasks: 3, threads: 1, events: 2_000).conduct()
    #expect(report.problems == [])
    #expect(report.text.contains("verdict   all accounts add up"))
    for name in Run.names { #expect(report.text.contains("\n" + name)) }
    #expect(report.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test("each part by itself", arguments: Run.names)
  func part(name: String) async {
    let report = await Run(seed: 3, tasks: 2, threads: 0, events: 200, only: name).conduct()
    #expect(report.problems == [])
  }

  @Test("what the crowd does not know of is found")
  func crowd() async {
    /// What the audit says when something has been done that it was not told of.
    func violations(_ alter: (Crowd) async -> Void) async -> [String] {
      let world = Self.world()
      let crowd = Crowd(in: world)
      await alter(crowd)
      _ = await crowd.audit()
      return world.violations.list
    }
    #expect(await violations { _ in } == [])
    let event = Event(id: 1, note: Note(poster: 0, number: 1))
    let posted = await violations { crowd in
      crowd.world.calmDown()
      await crowd.delegates.notifyAndWait { try $0.saw(event) }
    }
    #expect(posted.contains("crowd, posted: the hub says 101, the program 100"))
    let ended = await violations { $0.residents[0].subscriber.conduct.watch.end(throwing: false) }
    #expect(
      ended.contains { $0.hasPrefix("resident \($0.split(separator: " ")[1]) has handled 101") })
    let stranger = await violations { crowd in
      crowd.world.hub.subscribe(
        Member(Conduct(crowd.world, .prompt, crowd.account)),
        to: (any Listener).self, hold: .strongly)
    }
    #expect(stranger.contains("crowd, count: the hub says 13, the program 12"))
  }

  @Test("handlers at once, out of order, or after the end are found")
  func watch() {
    let world = Self.world()
    let watch = Watch(world)
    func event(_ sequence: Int, of producer: Int) -> Event {
      Event(id: 0, note: Note(poster: producer, number: sequence))
    }
    func handle(_ event: Event) {
      watch.begin(event)
      watch.end(throwing: false)
    }
    handle(event(5, of: 0))
    handle(event(3, of: 1))
    #expect(world.violations.list == [])
    handle(event(4, of: 0))
    #expect(world.violations.list.joined().contains("out of order"))
    watch.begin(event(6, of: 0))
    watch.begin(event(7, of: 0))
    #expect(world.violations.list.contains("a subscriber handled two notifications at a time"))
    for ending in [Tally.Ending.cancel, .cancelAndWait] {
      watch.bar(after: ending, allowing: ending == .cancel ? 1 : 0)
      let found = "a handler began after \(ending.rawValue) had returned"
      if ending == .cancel { watch.begin(event(8, of: 0)) }
      #expect(!world.violations.list.contains(found))
      watch.begin(event(9, of: 0))
      #expect(world.violations.list.contains(found))
    }
    #expect(world.violations.list.contains("a handler ran on after cancelAndWait had returned"))
  }

  @Test("events that are missing or come twice are found", arguments: [true, false])
  func notebook(isGapless: Bool) {
    let world = Self.world()
    let book = Notebook("a loop", in: world, isGapless: isGapless)
    for number in [3, 4, 6] { book.enter(Note(poster: 0, number: number)) }
    #expect(world.violations.list.count == (isGapless ? 1 : 0))
    book.enter(Note(poster: 0, number: 6))
    #expect(world.violations.list.joined().contains(isGapless ? ", 2 x" : "out of order"))
    #expect(book.count == 4 && book.last(of: 0) == 6)
  }

  @Test("what stands still is named, and what has ended is not")
  func watchdog() async {
    let (standstills, note) = AsyncStream<[String]>.makeStream()
    let limits = Limits(duration: nil, events: 100)
    let watchdog = Watchdog(over: limits, patience: 0.3) { note.yield($0) }
    await watchdog.during("past") { _ = limits.take() }
    let names = await watchdog.during("present") { await standstills.first { _ in true } }
    #expect(names == ["present"])
  }

  @Test("the same seed gives the same numbers, and numbers are short")
  func numbers() {
    var (one, other, third) = (Dice(seed: 7), Dice(seed: 7), Dice(seed: 8))
    let numbers = (0..<100).map { _ in one.roll(6) }
    #expect(numbers == (0..<100).map { _ in other.roll(6) })
    #expect(numbers != (0..<100).map { _ in third.roll(6) })
    #expect(
      [0, 999, 12_345, 1_234_567, 45_678_901].map(\.short) == ["0", "999", "12K", "1.2M", "46M"])
  }
}
