import Delegation
import Testing

@Suite("A program: a library that gives its clients registries", .inTurn)
struct PlayerProgram {
  // sample: A library's protocols
  /// Is told what is played.
  public protocol PlayerObserver: AnyObject, Sendable {
    func player(_ player: Player, didPlay track: String) async
    func playerDidStop(_ player: Player) async
  }

  /// Has a say in what is played.
  public protocol PlayerRule: AnyObject, Sendable {
    func player(_ player: Player, mayPlay track: String) async -> Bool
  }
  // end of sample

  // sample: A library that gives registries
  /// Plays tracks, if no rule objects.
  public actor Player {
    private let tellers: Delegates<any PlayerObserver>
    private let askers: Delegates<any PlayerRule>

    /// Who wants to be told subscribes here.
    public nonisolated var observers: DelegateRegistry<any PlayerObserver> { tellers.registry }
    /// Who wants to have a say subscribes here.
    public nonisolated var rules: DelegateRegistry<any PlayerRule> { askers.registry }

    /// Makes a player that nobody watches.
    public init() {
      let hub = DelegateHub()
      tellers = Delegates(of: hub)
      askers = Delegates(of: hub)
    }

    /// Plays a track; false if a rule objects.
    @discardableResult
    public func play(_ track: String) async -> Bool {
      guard await askers.vote({ await $0.player(self, mayPlay: track) }) else { return false }
      tellers.notify { await $0.player(self, didPlay: track) }
      return true
    }

    /// Stops, and returns when everybody has been told.
    public func stop() async {
      await tellers.notifyAndWait { await $0.playerDidStop(self) }
    }
  }
  // end of sample

  private final class Log: PlayerObserver {
    let lines = Recorder<String>()

    func player(_ player: Player, didPlay track: String) async { lines.record(track) }
    func playerDidStop(_ player: Player) async { lines.record("stop") }
  }

  @MainActor private final class Label: PlayerObserver {
    private(set) var text = ""

    func player(_ player: Player, didPlay track: String) { text = track }
    func playerDidStop(_ player: Player) {}
  }

  private final class NoPolka: PlayerRule {
    func player(_ player: Player, mayPlay track: String) async -> Bool { track != "polka" }
  }

  @Test("clients subscribe with the options that they like, and are told and asked")
  func clients() async {
    let player = Player()
    let (log, label, rule) = (Log(), Label(), NoPolka())
    // sample: A client of a library
    player.observers.subscribe(log, mailbox: .dropOldest(limit: 100))
    player.observers.subscribe(label, priority: 1)
    player.rules.subscribe(rule)
    // end of sample
    #expect(await player.play("waltz"))
    #expect(!(await player.play("polka")))
    await player.stop()
    #expect(log.lines.history == ["waltz", "stop"])
    #expect(await label.text == "waltz")
  }

  @Test("clients leave by their subscription or by the registry, each protocol for itself")
  func leaving() async {
    let player = Player()
    let (log, label, rule) = (Log(), Label(), NoPolka())
    let subscription = player.observers.subscribe(log)
    player.observers.subscribe(label)
    player.rules.subscribe(rule)
    subscription.cancel()
    await player.observers.unsubscribeAndWait(label)
    #expect(await player.play("waltz"))
    #expect(!(await player.play("polka")))
    await player.stop()
    #expect(!subscription.isActive)
    #expect(log.lines.history == [])
    #expect(await label.text == "")
    player.rules.unsubscribe(rule)
    #expect(await player.play("polka"))
  }

  @Test("a registry that a client keeps keeps the hub, and not the one whose hub it was")
  func keptRegistry() async throws {
    let log = Log()
    var player: Player? = Player()
    weak let owner = player
    let registry = try #require(player).observers
    let subscription = registry.subscribe(log)
    player = nil
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
    // sample: A protocol that refines another
    hub.subscribe(apparatus, to: Telephone.self)
    hub.notify(Device.self) { $0.ring() }  // reaches nobody: `Device` is another key
    // end of sample
    await hub.drain()
    #expect(apparatus.rings.history == [])
    hub.subscribe(apparatus, toEachOf: Device.self, Telephone.self)
    hub.notify(Device.self) { $0.ring() }
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
    let subscription = hub.subscribe(apparatus, to: Device.self, on: queue)
    await hub.notifyAndWait(Device.self) { tell($0) }
    hub.subscribe(apparatus, to: Device.self, on: nil)
    await hub.notifyAndWait(Device.self) { tell($0) }
    subscription.cancel()
    hub.subscribe(apparatus, to: Device.self)
    await hub.notifyAndWait(Device.self) { tell($0) }
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
