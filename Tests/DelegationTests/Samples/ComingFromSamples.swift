import Delegation
import Dispatch
import Testing

protocol TransferDelegate: AnyObject, Sendable {
  func transferDidBegin(_ file: String)
  func transfer(_ file: String, didReach percent: Int)
  func transferDidEnd(_ file: String)
}

extension TransferDelegate {  // for those that observed only some of the names
  func transferDidBegin(_ file: String) {}
  func transfer(_ file: String, didReach percent: Int) {}
  func transferDidEnd(_ file: String) {}
}

/// Calls a closure when a transfer ends.
final class TransferEnd: TransferDelegate {
  private let body: @Sendable (String) -> Void

  init(_ body: @escaping @Sendable (String) -> Void) { self.body = body }
  func transferDidEnd(_ file: String) { body(file) }
}

@Suite("Samples of coming from something else", .inTurn)
struct ComingFromSamples {
  // MARK: Several names, and a closure

  private final class Progress: TransferDelegate {
    let percents = Recorder<Int>()
    func transfer(_ file: String, didReach percent: Int) { percents.record(percent) }
  }

  @Test("several names are one protocol, and a closure has a token")
  func severalNames() async {
    let hub = DelegateHub()
    let (progress, ended) = (Progress(), Recorder<String>())
    let add = { @Sendable (file: String) in ended.record(file) }
    hub.subscribe(progress, to: TransferDelegate.self)
    let token = hub.subscribe(
      TransferEnd { add($0) },
      to: TransferDelegate.self, hold: .strongly)
    for file in ["one", "two"] {
      hub[TransferDelegate.self].notify { $0.transferDidBegin(file) }
      hub[TransferDelegate.self].notify { $0.transfer(file, didReach: 50) }
      hub[TransferDelegate.self].notify { $0.transferDidEnd(file) }
      await hub.drain()
      token.cancel()
    }
    #expect(progress.percents.history == [50, 50])
    #expect(ended.history == ["one"])
  }

  // MARK: A stream

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

  // MARK: A model and its views

  @MainActor
  protocol ModelDelegate: AnyObject, Sendable {
    func model(_ model: Model, didChangeTo value: Int)
  }

  @MainActor
  final class Model {
    private let delegates = Delegates<any ModelDelegate>()
    var observers: DelegateRegistry<any ModelDelegate> { delegates.registry }

    var value = 0 {
      didSet {
        delegates.notify { @MainActor [value] in $0.model(self, didChangeTo: value) }
      }
    }
  }

  @MainActor
  private final class View: ModelDelegate {
    let values = Recorder<Int>()
    func model(_ model: Model, didChangeTo value: Int) { values.record(value) }
  }

  @Test("views are told on the main actor, in order and later")
  @MainActor
  func model() async {
    let (model, view) = (Model(), View())
    model.observers.subscribe(view)
    for value in 1...3 { model.value = value }
    // The main actor is here.
    #expect(view.values.history == [])
    #expect(await view.values.history(of: 3) == [1, 2, 3])
  }
}
