import Delegation
import Dispatch
import Testing

@Suite("Samples of coming from something else", .inTurn)
struct ComingFromSamples {
  protocol StreamDelegate: AnyObject, Sendable {
    func stream(_ stream: Stream, didReceive message: String)
  }

  final class Stream: Sendable {
    let delegates = Delegates<any StreamDelegate>()
  }

  @MainActor
  final class Window: StreamDelegate {
    private(set) var lines: [String] = []

    nonisolated func stream(_ stream: Stream, didReceive message: String) {
      MainActor.assumeIsolated { lines.append(message) }
    }
  }

  @Test("a delegate on the main queue is told there")
  func mainQueue() async {
    let stream = Stream()
    let window = Window()
    stream.delegates.registry.subscribe(window, on: DispatchQueueExecutor(.main))
    for message in ["hello", "bye"] {
      stream.delegates.notify { $0.stream(stream, didReceive: message) }
    }
    await stream.delegates.hub.drain()
    #expect(await window.lines == ["hello", "bye"])
  }

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

  protocol PlayerObserver: AnyObject, Sendable {
    func player(_ player: OnePlayer, didPlay song: String)
  }

  // sample: One delegate for many
  /// Is the player's one delegate, and tells all others.
  final class Multicast: PlayerDelegate {
    private let delegates = Delegates<any PlayerObserver>()
    var observers: DelegateRegistry<any PlayerObserver> { delegates.registry }

    func player(_ player: OnePlayer, didPlay song: String) {
      delegates.notify { $0.player(player, didPlay: song) }
    }
    // The player needs the answer at once, so nobody else is asked.
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
    player.delegate = multicast  // weak: keep the multicast yourself
    multicast.observers.subscribe(first)
    multicast.observers.subscribe(second)
    for song in ["waltz", "polka", "tango"] { player.play(song) }
    #expect(await first.songs.history(of: 2) == ["waltz", "tango"])
    #expect(await second.songs.history(of: 2) == ["waltz", "tango"])
  }
}
