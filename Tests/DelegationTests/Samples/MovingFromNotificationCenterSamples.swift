import Delegation
import Foundation
import Testing

// sample: Several names
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
// end of sample

// sample: A closure as an observer
/// Calls a closure when a transfer ends.
final class TransferEnd: TransferDelegate {
  private let body: @Sendable (String) -> Void

  init(_ body: @escaping @Sendable (String) -> Void) { self.body = body }
  func transferDidEnd(_ file: String) { body(file) }
}
// end of sample

@Suite("Samples of moving from NotificationCenter", .inTurn)
struct MovingFromNotificationCenterSamples {
  private static let played = Recorder<String>()

  enum Closures {
    // sample: Before: closures
    final class Player: @unchecked Sendable {
      static let didPlay =
        Notification.Name("didPlay")

      func play(_ song: String) {
        NotificationCenter.default.post(
          name: Self.didPlay, object: self,
          userInfo: ["song": song])
      }
    }

    final class History: @unchecked Sendable {
      private var token: (any NSObjectProtocol)?

      init(of player: Player) {
        let center = NotificationCenter.default
        token = center.addObserver(
          forName: Player.didPlay,
          object: player, queue: nil
        ) { [weak self] notification in
          let info = notification.userInfo
          guard let song = info?["song"],
            let song = song as? String
          else { return }
          self?.add(song)
        }
      }

      deinit {
        if let token {
          NotificationCenter.default
            .removeObserver(token)
        }
      }
    }
    // end of sample
  }

  enum Hub {
    // sample: After: a hub for closures
    protocol PlayerDelegate:
      AnyObject, Sendable
    {
      func player(
        _ player: Player,
        didPlay song: String)
    }

    final class Player: Sendable {
      let hub = DelegateHub()

      func play(_ song: String) {
        hub.notify(PlayerDelegate.self) {
          $0.player(self, didPlay: song)
        }
      }
    }

    final class History: PlayerDelegate {
      init(of player: Player) {
        player.hub.subscribe(
          self, to: PlayerDelegate.self)
      }

      func player(
        _ player: Player,
        didPlay song: String
      ) {
        add(song)
      }
    }
    // end of sample
  }

  private final class Player: Sendable {
    let hub = DelegateHub()
  }

  // sample: Before: typed messages
  private struct DidPlay:
    NotificationCenter.AsyncMessage
  {
    typealias Subject = Player
    let song: String
  }
  // end of sample

  @Test("closures: before and after agree")
  func closures() async {
    let before = Closures.Player()
    let old = Closures.History(of: before)
    before.play("Before")
    withExtendedLifetime(old) {}
    let after = Hub.Player()
    let new = Hub.History(of: after)
    after.play("After")
    await after.hub.drain()
    withExtendedLifetime(new) {}
    #expect(Self.played.history == ["Before", "After"])
  }

  @Test("typed messages, as a closure's and as a sequence")
  func messages() async {
    let center = NotificationCenter()
    let player = Player()
    let played = Recorder<String>()
    let add = { @Sendable (song: String) in played.record(song) }
    // sample: Before: observing typed messages
    let token = center.addObserver(
      of: player, for: DidPlay.self
    ) { message in
      add(message.song)
    }
    center.post(
      DidPlay(song: "One"), subject: player)
    // end of sample
    #expect(await played.history(of: 1) == ["One"])
    center.removeObserver(token)
  }

  @Test("a sequence of messages, and of a hub's notifications")
  func sequence() async {
    let center = NotificationCenter()
    let player = Player()
    let played = Recorder<String>()
    let add = { @Sendable (song: String) in played.record(song) }
    let messages = center.messages(of: player, for: DidPlay.self)
    let task = Task {
      // sample: Before: a sequence
      for await message in messages {
        add(message.song)
      }
      // end of sample
    }
    // What is posted before the loop has begun is lost.
    while played.history.isEmpty {
      center.post(DidPlay(song: "One"), subject: player)
      await Task.yield()
    }
    #expect(Set(played.history) == ["One"])
    // Not waited for: a cancelled loop over a center's messages does not always end.
    task.cancel()

    let songs = SongQueue()
    player.hub.subscribe(songs, to: SongDelegate.self)
    player.hub.notify(SongDelegate.self) { $0.didPlay("Two") }
    let heard = Recorder<String>()
    let listener = Task {
      let add = { @Sendable (song: String) in heard.record(song) }
      // sample: After: a sequence of a subscriber's own
      for await song in songs.stream {
        add(song)
      }
      // end of sample
    }
    #expect(await heard.history(of: 1) == ["Two"])
    listener.cancel()
    await listener.value
  }

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
    // sample: Observing by a closure
    let token = hub.subscribe(
      TransferEnd { add($0) },
      to: TransferDelegate.self, hold: .strongly)
    // end of sample
    for file in ["one", "two"] {
      hub.notify(TransferDelegate.self) { $0.transferDidBegin(file) }
      hub.notify(TransferDelegate.self) { $0.transfer(file, didReach: 50) }
      hub.notify(TransferDelegate.self) { $0.transferDidEnd(file) }
      await hub.drain()
      // sample: Ending what was observed by a closure
      token.cancel()
      // end of sample
    }
    #expect(progress.percents.history == [50, 50])
    #expect(ended.history == ["one"])
  }

  private protocol SongDelegate: AnyObject, Sendable {
    func didPlay(_ song: String)
  }

  // sample: After: a subscriber with a stream
  private final class SongQueue: SongDelegate {
    let (stream, input) = AsyncStream.makeStream(
      of: String.self)

    func didPlay(_ song: String) {
      input.yield(song)
    }
  }
  // end of sample
}

extension MovingFromNotificationCenterSamples.Closures.History {
  fileprivate func add(_ song: String) {
    MovingFromNotificationCenterSamples.note(song)
  }
}

extension MovingFromNotificationCenterSamples.Hub.History {
  fileprivate func add(_ song: String) {
    MovingFromNotificationCenterSamples.note(song)
  }
}

extension MovingFromNotificationCenterSamples {
  fileprivate static func note(_ song: String) { played.record(song) }
}
