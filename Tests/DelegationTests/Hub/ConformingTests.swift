import Testing

@testable import Delegation

private protocol Progress: AnyObject, Sendable {
  var log: Recorder<Int> { get }
}

private protocol Pausable: AnyObject, Sendable {
  var log: Recorder<Int> { get }
}

/// Not bound to objects: a value of it is five words, and not the object's address and a table.
private protocol Unbounded: Sendable {
  func record(_ number: Int)
}

private final class Both: Listener, Progress {
  let name: String
  let log = Recorder<Int>()
  init(_ name: String = "both") { self.name = name }
}

private final class All: Listener, Progress, Pausable, Unbounded {
  let name = "all"
  let log = Recorder<Int>()
  func record(_ number: Int) { log.record(number) }
}

@Suite("conforming(to:): optional methods", .inTurn)
struct ConformingTests {
  private let delegates = Delegates<any Listener>()
  private var progress: Delegates<any Progress> { delegates.conforming(to: Progress.self) }
  private let plain = Probe("plain")
  private let both = Both()

  init() {
    delegates.registry.subscribe(plain)
    delegates.registry.subscribe(both)
  }

  @Test("a notification reaches those that conform, and is passed over by the others")
  func notify() async throws {
    progress.notify { $0.log.record(1) }
    progress.notify { subscriber in
      await Task.yield()
      subscriber.log.record(2)
    }
    progress.notify { @MainActor subscriber in subscriber.log.record(3) }
    #expect(await progress.notifyAndWait { $0.log.record(4) }.isEmpty)
    #expect(both.log.history == [1, 2, 3, 4])
    #expect(plain.log.history == [])
    let counts = await delegates.hub.statistics().counts
    #expect(counts == .init(handled: 4, passedOver: 4))
  }

  @Test("what is optional never overtakes what is not", arguments: [false, true])
  func order(isAsynchronous: Bool) async {
    for round in 0..<200 {
      delegates.notify { $0.log.record(2 * round) }
      if isAsynchronous {
        progress.notify { subscriber in
          if round.isMultiple(of: 3) { await Task.yield() }
          subscriber.log.record(2 * round + 1)
        }
      } else {
        progress.notify { $0.log.record(2 * round + 1) }
      }
    }
    await delegates.hub.drain()
    #expect(both.log.history == Array(0..<400))
    #expect(plain.log.history == (0..<200).map { 2 * $0 })
  }

  @Test("it waits in the base's own mailbox, and takes part in its limit")
  func mailbox() async {
    let gate = Gate()
    let slow = Both("slow")
    delegates.registry.subscribe(slow, mailbox: .latest)
    delegates.notify { if $0.name == "slow" { await gate.pass() } }
    await gate.arrivals()
    delegates.notify { $0.log.record(1) }
    progress.notify { $0.log.record(2) }
    gate.open()
    await delegates.hub.drain()
    #expect(slow.log.history == [2])
    #expect(both.log.history == [1, 2])
  }

  @Test("questions ask those that conform; the others count as absent")
  func questions() async {
    #expect(await progress.ask(combining: .sum()) { _ in 1 } == 1)
    #expect(await progress.ask(combining: .sum(), absent: .counts(as: 100)) { _ in 1 } == 1)
    #expect(await progress.collect { _ in 1 }.count == 1)
    #expect(await !progress.vote(by: .atLeast(2)) { _ in true })
    #expect(await progress.vote(by: .atLeast(1)) { _ in true })
    #expect(await progress.askInTurn { ObjectIdentifier($0) } == ObjectIdentifier(both))
    #expect(await progress.pass(1) { $1 * 2 } == 2)
    #expect(await progress.pass(1, within: .seconds(600), absent: .abstains) { $1 * 2 } == 2)
  }

  @Test("isEmpty, count and subscribers are those of the ones that conform")
  func looking() async {
    #expect(!progress.isEmpty)
    #expect(progress.count == 1)
    #expect(progress.subscribers.map { ObjectIdentifier($0) } == [ObjectIdentifier(both)])
    delegates.registry.unsubscribe(both)
    #expect(progress.isEmpty)
    #expect(progress.count == 0)
    #expect(!delegates.isEmpty)
  }

  @Test("of many subscribers, the one that conforms is found")
  func foundAmongMany() async {
    let crowd = Probe.many(2000)
    let delegates = Delegates<any Listener>()
    for probe in crowd { delegates.registry.subscribe(probe) }
    let progress = delegates.conforming(to: Progress.self)
    #expect(progress.isEmpty)
    delegates.registry.subscribe(both)
    #expect(!progress.isEmpty)
  }

  @Test("again: of those that conform to several")
  func chained() async {
    let all = All()
    delegates.registry.subscribe(all)
    let chain = progress.conforming(to: Pausable.self).conforming(to: Unbounded.self)
    chain.notify { $0.record(1) }
    await delegates.hub.drain()
    #expect([plain.log, both.log, all.log].map(\.history) == [[], [], [1]])
    #expect(chain.count == 1)
    #expect(progress.conforming(to: Listener.self).count == 2)
    // It is the chain that counts, not its end alone.
    let both = delegates.conforming(to: Pausable.self).conforming(to: Progress.self)
    #expect(both.count == 1)
  }

  @Test("a class will do as well, for those who know it")
  func aClass() async {
    let ones = delegates.conforming(to: Both.self)
    ones.notify { $0.log.record(1) }
    await delegates.hub.drain()
    #expect(both.log.history == [1])
    #expect(ones.count == 1)
  }

  @Test("a subscriber that has died ends as expired, whoever finds out")
  func dead() async {
    let delegates = Delegates<any Listener>()
    let progress = delegates.conforming(to: Progress.self)
    for isKnown in [false, true] {
      var subscriber: Both? = Both()
      let subscription = delegates.registry.subscribe(subscriber!)
      if isKnown { #expect(progress.count == 1) }
      progress.notify { $0.log.record(1) }
      await delegates.hub.drain()
      #expect(subscriber?.log.history == [1])
      subscriber = nil
      progress.notify { $0.log.record(2) }
      await delegates.hub.drain()
      #expect(!subscription.isActive)
      #expect(await progress.ask(combining: .sum()) { _ in 1 } == 0)
      #expect(progress.isEmpty)
    }
    let counts = await delegates.hub.statistics().counts
    #expect(counts.handled == 2)
    #expect(counts.expired == 2)
  }

  @Test("a handler that throws has failed, and the task-locals come along")
  func surroundings() async {
    let incidents = Recorder<String>()
    var configuration = DelegateHub.Configuration()
    configuration.propagating = [.taskLocal(Mark.$current)]
    configuration.onIncident = { incidents.record($0.description) }
    let delegates = Delegates(Listener.self, of: DelegateHub(configuration))
    delegates.registry.subscribe(both)
    let marks = Recorder<Int>()
    Mark.$current.withValue(7) {
      delegates.conforming(to: Progress.self).notify { _ in
        marks.record(Mark.current)
        throw Refusal(reason: "no")
      }
    }
    await delegates.hub.drain()
    #expect(marks.history == [7])
    #expect(incidents.history.count == 1)
    #expect(await delegates.hub.statistics().counts.failed == 1)
  }

  @Test("its registry subscribes to the base protocol, and takes those alone that conform to both")
  func registry() async throws {
    let delegates = Delegates<any Listener>()
    let registry = delegates.conforming(to: Progress.self).registry
    registry.subscribe(both)
    #expect(delegates.count == 1)
    registry.unsubscribe(both)
    #expect(delegates.isEmpty)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Delegates<any Listener>().conforming(to: Progress.self).registry.subscribe(OnlyProgress())
    }
    #expect(said(result, "OnlyProgress does not conform to Listener"))
  }

  @Test("a notification is no larger because others are narrowed")
  func size() {
    #expect(
      MemoryLayout<Notification.Handler>.size <= 2 * MemoryLayout<UnsafeRawPointer>.size + 1)
  }
}

private final class OnlyProgress: Progress {
  let log = Recorder<Int>()
}

private enum Mark {
  @TaskLocal static var current = 0
}
