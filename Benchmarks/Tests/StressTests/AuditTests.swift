import Delegation
import Testing

@testable import stress

@Suite("The audit of stress: what is wrong is found", .timeLimit(.minutes(10)))
struct AuditTests {
  /// A world in which a few notifications were posted, counted and handled.
  private struct Scene {
    let world = World(seed: 1, producers: 2)
    let residents: [Resident]
    let audit: Audit

    init() {
      residents = Resident.settle(world)
      audit = Audit(world, residents)
    }

    func post(counted: Bool = true) async {
      if counted { world.tally.count(.postedByProducers) }
      let event = AuditTests.event(1)
      world.hub.notify((any Listener).self) { try $0.saw(event) }
      await world.hub.drain()
    }

    func violations() async -> [String] {
      audit.checkAll(await world.hub.statistics())
      return world.violations.list
    }
  }

  fileprivate static func event(_ sequence: Int, of producer: Int? = nil) -> Event {
    Event(
      id: UInt64(sequence), producer: producer, sequence: sequence, postedAt: World.now(),
      isForbidden: false)
  }

  @Test("where everything is in order, nothing is found")
  func inOrder() async {
    let scene = Scene()
    // Calm, lest a handler posts something or throws.
    scene.world.calmDown()
    for _ in 0..<3 { await scene.post() }
    #expect(await scene.violations() == [])
    await scene.audit.checkCalm([], events: 10)
    #expect(await scene.violations() == [])
  }

  @Test("a notification that the hub has and nobody posted")
  func posted() async {
    let scene = Scene()
    scene.world.calmDown()
    await scene.post(counted: false)
    #expect(await scene.violations().contains("posted: the hub says 1, the program 0"))
  }

  @Test("a handler that ended and the hub did not count")
  func handled() async {
    let scene = Scene()
    scene.world.calmDown()
    await scene.post()
    scene.residents[0].subscriber.conduct.watch.end(throwing: false)
    let violations = await scene.violations()
    #expect(violations.contains("handled: the hub says 12, the program 13"))
    #expect(violations.contains { $0.hasPrefix(scene.residents[0].id + " has handled 2") })
    #expect(violations.count == 2)
  }

  @Test("a failure that the hub did not report")
  func failed() async {
    let scene = Scene()
    scene.world.tally.count(.failed)
    #expect(await scene.violations() == ["failed: the hub says 0, the program 1"])
  }

  @Test("failures that the hub did not report, and one that it reported twice")
  func reported() async {
    /// What the audit says of reports when each of twelve residents has failed once.
    func violations(_ alter: (Tally) -> Void) async -> [String] {
      let scene = Scene()
      scene.world.calmDown()
      scene.world.hub.notify((any Listener).self) { _ in throw Refusal() }
      await scene.world.hub.drain()
      alter(scene.world.tally)
      return await scene.violations().filter { $0.hasPrefix("reported") }
    }
    func told(_ count: Int, leftOut: Int) -> [String] {
      [
        "reported: 12 failed, the program was told of \(count) and of \(leftOut) incidents that were left out"
      ]
    }
    #expect(await violations { _ in } == [])
    #expect(await violations { $0.count(.reported) } == told(13, leftOut: 0))
    #expect(await violations { $0.count(.reported, -2) } == told(10, leftOut: 0))
    // Those that were left out may have been these, and others besides.
    for leftOut in 2...3 {
      let found = await violations {
        $0.count(.reported, -2)
        $0.count(.leftOut, leftOut)
      }
      #expect(found == [])
    }
    let found = await violations {
      $0.count(.reported, -2)
      $0.count(.leftOut)
    }
    #expect(found == told(10, leftOut: 1))
  }

  @Test("a listener of whom the program does not know")
  func unknownListener() async {
    let scene = Scene()
    let stranger = Member(Conduct(scene.world, .prompt))
    scene.world.hub.subscribe(stranger, to: (any Listener).self)
    await scene.audit.checkCalm([], events: 2)
    #expect(
      scene.world.violations.list == [
        "2 events to 13 listeners addressed 26, the dead left out",
        "the hub counts 13 listeners, not 12 residents and 0 visitors",
      ])
    withExtendedLifetime(stranger) {}
  }

  @Test("a subscriber that was kept in memory")
  func undead() async {
    let scene = Scene()
    let kept = Member(Conduct(scene.world, .prompt))
    await scene.audit.checkDead(looks: 1)
    #expect(scene.world.violations.list == ["1 subscribers were kept in memory"])
    withExtendedLifetime(kept) {}
  }

  @Test("two handlers at a time")
  func overlapping() {
    let world = World(seed: 1, producers: 1)
    let watch = Watch(world, .prompt, isResident: false)
    watch.begin(Self.event(1))
    watch.end(throwing: false)
    watch.begin(Self.event(2))
    #expect(world.violations.list == [])
    watch.begin(Self.event(3))
    #expect(world.violations.list == ["a subscriber handled two notifications at a time"])
  }

  @Test("one producer's notifications out of order, another's beside them")
  func order() {
    let world = World(seed: 1, producers: 2)
    let watch = Watch(world, .prompt, isResident: false)
    func handle(_ event: Event) {
      watch.begin(event)
      watch.end(throwing: false)
    }
    handle(Self.event(5, of: 0))
    handle(Self.event(3, of: 1))
    handle(Self.event(7, of: 0))
    #expect(world.violations.list == [])
    handle(Self.event(6, of: 0))
    #expect(world.violations.list == ["a producer's notifications came out of order"])
  }

  @Test("handlers that begin, or run on, after the wait for their end")
  func barred() {
    let world = World(seed: 1, producers: 1)
    let watch = Watch(world, .prompt, isResident: false)
    watch.begin(Self.event(1))
    watch.bar()
    #expect(world.violations.list == ["a handler ran on after cancelAndWait had returned"])
    watch.end(throwing: false)
    watch.begin(Self.event(2))
    #expect(world.violations.list.contains("a handler began after cancelAndWait had returned"))
  }

  @Test("a whole run, short and seeded, and its report")
  func run() async {
    let limits = Limits(duration: nil, events: 300, window: 64)
    let report = await Run(seed: 7, producers: 3, limits: limits, progress: nil).conduct()
    #expect(report.problems == [])
    #expect(report.text.contains("all accounts add up"))
    // A calm end is posted besides.
    #expect(report.text.contains("3 producers"))
  }
}
