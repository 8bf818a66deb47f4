import Delegation
import OpenCombine
import Testing

@Suite("Samples of moving from Combine", .timeLimit(.minutes(10)))
struct MovingFromCombineSamples {
  enum Before {
    // sample: Before: a subject
    final class Player {
      let didPlay =
        PassthroughSubject<String, Never>()

      func play(_ song: String) {
        didPlay.send(song)
      }
    }

    final class Display {
      private var sinks: Set<AnyCancellable> = []

      init(of player: Player) {
        player.didPlay.sink {
          [weak self] song in
          self?.show(song)
        }.store(in: &sinks)
      }
    }
    // end of sample
  }

  enum After {
    // sample: After: a hub for the subject
    protocol PlayerDelegate:
      AnyObject, Sendable
    {
      func didPlay(_ song: String)
    }

    final class Player: Sendable {
      let hub = DelegateHub()

      func play(_ song: String) {
        hub.notify(PlayerDelegate.self) {
          $0.didPlay(song)
        }
      }
    }

    final class Display: PlayerDelegate {
      init(of player: Player) {
        player.hub.subscribe(
          self, to: PlayerDelegate.self)
      }

      func didPlay(_ song: String) { show(song) }
    }
    // end of sample
  }

  fileprivate static let shown = History()

  @Test("before and after agree")
  func agree() async {
    let (oldPlayer, newPlayer) = (Before.Player(), After.Player())
    let (old, new) = (Before.Display(of: oldPlayer), After.Display(of: newPlayer))
    oldPlayer.play("One")
    newPlayer.play("Two")
    await newPlayer.hub.drain()
    withExtendedLifetime((old, new)) {}
    #expect(Self.shown.lines == ["before One", "after Two"])
  }
}

extension MovingFromCombineSamples.Before.Display {
  fileprivate func show(_ song: String) { MovingFromCombineSamples.shown.add("before \(song)") }
}

extension MovingFromCombineSamples.After.Display {
  fileprivate func show(_ song: String) { MovingFromCombineSamples.shown.add("after \(song)") }
}
