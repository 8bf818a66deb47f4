import Delegation
import Dispatch
import Testing

@Suite("Samples of moving from multicast delegates", .inTurn)
struct MovingFromMulticastSamples {
  // sample: After: the protocol
  protocol StreamDelegate:
    AnyObject, Sendable
  {
    func stream(
      _ stream: Stream,
      didReceive message: String)
  }

  protocol StreamGatekeeper:
    AnyObject, Sendable
  {
    func stream(
      _ stream: Stream,
      shouldAccept message: String
    ) async -> Bool
  }
  // end of sample

  // sample: After: the stream
  final class Stream: Sendable {
    let delegates =
      Delegates<any StreamDelegate>()

    func receive(_ message: String) async {
      let gates = delegates.conforming(
        to: StreamGatekeeper.self)
      let isAccepted = await gates.vote {
        await $0.stream(
          self, shouldAccept: message)
      }
      guard isAccepted else { return }
      delegates.notify {
        $0.stream(self, didReceive: message)
      }
    }
  }
  // end of sample

  // sample: An optional method of a stream
  protocol StreamTyping: AnyObject, Sendable {
    func streamDidBeginTyping(_ stream: Stream)
  }
  // end of sample

  private final class Screen: StreamDelegate, StreamTyping {
    let events = Recorder<String>()

    func stream(_ stream: Stream, didReceive message: String) { events.record(message) }
    func streamDidBeginTyping(_ stream: Stream) { events.record("…") }
  }

  @Test("what is optional comes in the order of all that is told (M10)")
  func optional() async {
    let stream = Stream()
    let (archive, screen) = (Archive(), Screen())
    stream.delegates.registry.subscribe(archive)
    stream.delegates.registry.subscribe(screen, on: MarkedQueue.make("screen"))
    for message in ["hello", "bye"] {
      // sample: Calling an optional method of a stream
      stream.delegates.conforming(to: StreamTyping.self)
        .notify { $0.streamDidBeginTyping(stream) }
      // end of sample
      await stream.receive(message)
    }
    await stream.delegates.hub.drain()
    #expect(screen.events.history == ["…", "hello", "…", "bye"])
    #expect(archive.received.history == ["hello on elsewhere", "bye on elsewhere"])
  }

  private final class Archive: StreamDelegate, StreamGatekeeper {
    let received = Recorder<String>()

    func stream(_ stream: Stream, didReceive message: String) {
      received.record("\(message) on \(MarkedQueue.current)")
    }
    func stream(_ stream: Stream, shouldAccept message: String) async -> Bool {
      message != "spam"
    }
  }

  private final class Roster: StreamDelegate {
    func stream(_ stream: Stream, didReceive message: String) {}
  }

  @Test("delegates are told on their queues, and asked")
  func stream() async {
    let queue = MarkedQueue.make("archive")
    let (stream, archive) = (Stream(), Archive())
    // sample: After: the queue
    stream.delegates.registry.subscribe(
      archive, on: queue)
    // end of sample
    for message in ["hello", "spam", "bye"] { await stream.receive(message) }
    await stream.delegates.hub.drain()
    #expect(archive.received.history == ["hello on archive", "bye on archive"])
  }

  @Test("delegates are looked up and enumerated")
  func enumerate() async {
    let delegates = Delegates<any StreamDelegate>()
    let (archive, roster) = (Archive(), Roster())
    delegates.registry.subscribe(archive)
    delegates.registry.subscribe(roster)
    let names = Recorder<String>()
    let print = { (delegate: any StreamDelegate) in names.record("\(type(of: delegate))") }
    // sample: Counting and enumerating
    // count
    let count = await delegates.count

    // countOfClass:
    let archives = await delegates.subscribers.count { $0 is Archive }

    // countForSelector: and hasDelegateThatRespondsToSelector:
    let typists = delegates.conforming(to: StreamTyping.self)
    let isAnyTypist = !typists.isEmpty
    let typistCount = await typists.count

    // delegateEnumerator
    for delegate in await delegates.subscribers {
      print(delegate)
    }
    // end of sample
    #expect(count == 2)
    #expect(archives == 1)
    #expect(!isAnyTypist)
    #expect(typistCount == 0)
    #expect(names.history == ["Archive", "Roster"])
  }

  // MARK: The main queue

  // sample: A delegate on the main queue
  @MainActor
  final class Window: StreamDelegate {
    private(set) var lines: [String] = []

    nonisolated func stream(_ stream: Stream, didReceive message: String) {
      MainActor.assumeIsolated { lines.append(message) }
    }
  }
  // end of sample

  @Test("a delegate on the main queue is told there")
  func mainQueue() async {
    let stream = Stream()
    let window = Window()
    // sample: Subscribing on the main queue
    stream.delegates.registry.subscribe(window, on: .main)
    // end of sample
    for message in ["hello", "bye"] { await stream.receive(message) }
    await stream.delegates.hub.drain()
    #expect(await window.lines == ["hello", "bye"])
  }

  // MARK: Nothing but optional methods

  // sample: Nothing but optional methods
  protocol ConnectionDelegate: AnyObject, Sendable {}  // everybody subscribes to this

  protocol ConnectionClosing: AnyObject, Sendable {
    func connectionDidClose() async
  }

  protocol ConnectionNaming: AnyObject, Sendable {
    func nameOfConnection() async -> String?
  }
  // end of sample

  private final class Namer: ConnectionDelegate, ConnectionNaming {
    func nameOfConnection() async -> String? { "seven" }
  }
  private final class Closer: ConnectionDelegate, ConnectionClosing {
    let closed = Recorder<Bool>()
    func connectionDidClose() async { closed.record(true) }
  }

  @Test("a protocol without required methods is an empty one")
  func nothingRequired() async {
    let delegates = Delegates<any ConnectionDelegate>()
    let (namer, closer) = (Namer(), Closer())
    delegates.registry.subscribe(namer)
    delegates.registry.subscribe(closer)
    await delegates.conforming(to: ConnectionClosing.self)
      .notifyAndWait { await $0.connectionDidClose() }
    #expect(closer.closed.history == [true])
    let name = await delegates.conforming(to: ConnectionNaming.self)
      .askInTurn { await $0.nameOfConnection() }
    #expect(name == "seven")
  }

  // MARK: One delegate property

  protocol PlayerDelegate: AnyObject, Sendable {
    func player(_ player: OnePlayer, didPlay song: String)
    func player(_ player: OnePlayer, shouldPlay song: String) -> Bool
  }

  /// A class with one delegate, as there are many.
  final class OnePlayer: @unchecked Sendable {
    weak var delegate: (any PlayerDelegate)?

    func play(_ song: String) {
      guard delegate?.player(self, shouldPlay: song) != false else { return }
      delegate?.player(self, didPlay: song)
    }
  }

  // sample: One delegate for many
  protocol PlayerObserver: AnyObject, Sendable {
    func player(_ player: OnePlayer, didPlay song: String)
  }

  /// Is the player's one delegate, and tells all others.
  final class Multicast: PlayerDelegate {
    private let delegates = Delegates<any PlayerObserver>()
    var observers: DelegateRegistry<any PlayerObserver> { delegates.registry }

    func player(_ player: OnePlayer, didPlay song: String) {
      delegates.notify { $0.player(player, didPlay: song) }
    }
    // Has to answer at once, so it answers alone.
    func player(_ player: OnePlayer, shouldPlay song: String) -> Bool { song != "polka" }
  }
  // end of sample

  private final class Songs: PlayerObserver {
    let songs = Recorder<String>()
    func player(_ player: OnePlayer, didPlay song: String) { songs.record(song) }
  }

  @Test("a class with one delegate has many by an object that tells them")
  func oneDelegate() async {
    let player = OnePlayer()
    let multicast = Multicast()
    let (first, second) = (Songs(), Songs())
    // sample: Setting the one delegate
    player.delegate = multicast  // weak: keep the multicast yourself
    multicast.observers.subscribe(first)
    multicast.observers.subscribe(second)
    // end of sample
    for song in ["waltz", "polka", "tango"] { player.play(song) }
    #expect(await first.songs.history(of: 2) == ["waltz", "tango"])
    #expect(await second.songs.history(of: 2) == ["waltz", "tango"])
  }
}
