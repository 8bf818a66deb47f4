import Delegation
import Testing

/// Is told what is played.
public protocol JukeboxObserver: AnyObject, Sendable {
  func jukebox(_ jukebox: Jukebox, didPlay track: String) async
  func jukebox(_ jukebox: Jukebox, didSkip track: String) async  // since 1.1
  func jukeboxDidStop(_ jukebox: Jukebox) async
}

/// Has a say in what is played.
public protocol JukeboxRule: AnyObject, Sendable {
  func jukebox(_ jukebox: Jukebox, mayPlay track: String) async -> Bool
}

extension JukeboxObserver {
  /// Does nothing, so that observers which were written for 1.0 still compile.
  public func jukebox(_ jukebox: Jukebox, didSkip track: String) async {}
}

/// Plays tracks, if no rule objects.
public actor Jukebox {
  private let observing: Delegates<any JukeboxObserver>
  private let ruling: Delegates<any JukeboxRule>

  /// For those that want to be told.
  public nonisolated var observers: DelegateRegistry<any JukeboxObserver> { observing.registry }
  /// For those that want to have a say.
  public nonisolated var rules: DelegateRegistry<any JukeboxRule> { ruling.registry }

  /// Makes a jukebox that nobody watches.
  public init() {
    let hub = DelegateHub()
    observing = Delegates(of: hub)
    ruling = Delegates(of: hub)
  }

  /// Plays a track; false if a rule objects.
  @discardableResult
  public func play(_ track: String) async -> Bool {
    guard await ruling.vote({ await $0.jukebox(self, mayPlay: track) }) else { return false }
    observing.notify { await $0.jukebox(self, didPlay: track) }
    return true
  }

  /// Skips a track, which no rule can prevent.
  public nonisolated func skip(_ track: String) {
    observing.notify { await $0.jukebox(self, didSkip: track) }
  }

  /// Stops, and returns when everybody has been told.
  public func stop() async {
    await observing.notifyAndWait { await $0.jukeboxDidStop(self) }
  }
}

@Suite("A program: a library that gives its clients registries", .inTurn)
struct JukeboxProgram {
  private final class Log: JukeboxObserver {
    let lines = Recorder<String>()

    func jukebox(_ jukebox: Jukebox, didPlay track: String) async { lines.record(track) }
    func jukeboxDidStop(_ jukebox: Jukebox) async { lines.record("stop") }
  }

  @MainActor private final class Label: JukeboxObserver {
    private(set) var text = ""

    func jukebox(_ jukebox: Jukebox, didPlay track: String) { text = track }
    func jukeboxDidStop(_ jukebox: Jukebox) {}
  }

  private final class NoPolka: JukeboxRule {
    func jukebox(_ jukebox: Jukebox, mayPlay track: String) async -> Bool { track != "polka" }
  }

  @Test("clients subscribe with the options that they like, and are told and asked")
  func clients() async {
    let jukebox = Jukebox()
    let (log, label, rule) = (Log(), Label(), NoPolka())
    jukebox.observers.subscribe(log, mailbox: .dropOldest(limit: 100))
    jukebox.observers.subscribe(label, priority: 1)
    jukebox.rules.subscribe(rule)
    #expect(await jukebox.play("waltz"))
    #expect(!(await jukebox.play("polka")))
    await jukebox.stop()
    #expect(log.lines.history == ["waltz", "stop"])
    #expect(await label.text == "waltz")
  }

  @Test("clients leave by their subscription or by the registry, each protocol for itself")
  func leaving() async {
    let jukebox = Jukebox()
    let (log, label, rule) = (Log(), Label(), NoPolka())
    let subscription = jukebox.observers.subscribe(log)
    jukebox.observers.subscribe(label)
    jukebox.rules.subscribe(rule)
    subscription.cancel()
    await jukebox.observers.unsubscribeAndWait(label)
    #expect(await jukebox.play("waltz"))
    #expect(!(await jukebox.play("polka")))
    await jukebox.stop()
    #expect(!subscription.isActive)
    #expect(log.lines.history == [])
    #expect(await label.text == "")
    jukebox.rules.unsubscribe(rule)
    #expect(await jukebox.play("polka"))
  }

  private final class Skips: JukeboxObserver {
    let lines = Recorder<String>()

    func jukebox(_ jukebox: Jukebox, didPlay track: String) async {
      lines.record("played \(track)")
    }
    func jukebox(_ jukebox: Jukebox, didSkip track: String) async {
      lines.record("skipped \(track)")
    }
    func jukeboxDidStop(_ jukebox: Jukebox) async {}
  }

  @Test("an observer that was written before a method was added misses nothing else")
  func growing() async {
    let jukebox = Jukebox()
    let (old, new) = (Log(), Skips())
    jukebox.observers.subscribe(old)
    jukebox.observers.subscribe(new)
    jukebox.skip("polka")
    await jukebox.play("waltz")
    await jukebox.stop()
    #expect(old.lines.history == ["waltz", "stop"])
    #expect(new.lines.history == ["skipped polka", "played waltz"])
  }

  @Test("a registry that a client keeps keeps the hub, and not the one whose hub it was")
  func keptRegistry() async throws {
    let log = Log()
    var jukebox: Jukebox? = Jukebox()
    weak let owner = jukebox
    let registry = try #require(jukebox).observers
    let subscription = registry.subscribe(log)
    jukebox = nil
    #expect(owner == nil)
    #expect(subscription.isActive)
    registry.unsubscribe(log)
    #expect(!subscription.isActive)
  }

  // MARK: Keys

  private protocol Device: AnyObject, Sendable {
    func ring()
  }
  private protocol Telephone: Device {}

  private final class Apparatus: Telephone {
    let rings = Recorder<String>()

    func ring() { rings.record("ring") }
  }

  @Test("who subscribes to a refined protocol is not reached by calls on the one that it refines")
  func refinedProtocol() async {
    let hub = DelegateHub()
    let apparatus = Apparatus()
    hub.subscribe(apparatus, to: Telephone.self)
    hub[Device.self].notify { $0.ring() }  // reaches nobody: `Device` is another key
    await hub.drain()
    #expect(apparatus.rings.history == [])
    hub.subscribe(apparatus, toEachOf: Device.self, Telephone.self)
    hub[Device.self].notify { $0.ring() }
    await hub.drain()
    #expect(apparatus.rings.history == ["ring"])
  }

  @Test("a subscriber leaves its executor by ending its subscription and subscribing anew")
  func leavingAnExecutor() async {
    let hub = DelegateHub()
    let apparatus = Apparatus()
    let queue = MarkedQueue.make("telephones")
    let places = Recorder<String>()
    let tell = { @Sendable (_: any Device) in places.record(MarkedQueue.current) }
    let subscription = hub.subscribe(apparatus, to: Device.self, on: DispatchQueueExecutor(queue))
    await hub[Device.self].notifyAndWait { tell($0) }
    hub.subscribe(apparatus, to: Device.self, on: nil)
    await hub[Device.self].notifyAndWait { tell($0) }
    subscription.cancel()
    hub.subscribe(apparatus, to: Device.self)
    await hub[Device.self].notifyAndWait { tell($0) }
    #expect(places.history == ["telephones", "telephones", "elsewhere"])
    withExtendedLifetime(apparatus) {}
  }

  /// A wrapper may be generic over the protocol, as long as it does not ask for a class.
  private struct Multicast<P: Sendable>: Sendable {
    private let delegates = Delegates<P>()

    func add(_ delegate: P, fileID: StaticString = #fileID, line: UInt = #line) {
      delegates.registry.subscribe(delegate, fileID: fileID, line: line)
    }
    func tell(_ body: @escaping @Sendable (P) -> Void) async {
      await delegates.notifyAndWait { body($0) }
    }
  }

  @Test("a wrapper that is generic over the protocol reaches its delegates")
  func wrapper() async {
    let multicast = Multicast<any Device>()
    let apparatus = Apparatus()
    multicast.add(apparatus)
    await multicast.tell { $0.ring() }
    #expect(apparatus.rings.history == ["ring"])
  }
}
