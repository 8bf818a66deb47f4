import Delegation
import Testing

@Suite("Samples of moving from Combine: completion", .inTurn)
struct CompletionSamples {
  protocol PlayerDelegate: AnyObject, Sendable {
    func didPlay(_ song: String)
    func didEnd()
  }

  // sample: A completion
  actor Player {
    nonisolated let hub = DelegateHub()
    private var hasEnded = false

    func play(_ song: String) {
      guard !hasEnded else { return }
      hub.notify(PlayerDelegate.self) { $0.didPlay(song) }
    }

    func end() {
      guard !hasEnded else { return }
      hasEnded = true
      hub.notify(PlayerDelegate.self) { $0.didEnd() }
    }
  }
  // end of sample

  private final class Listener: PlayerDelegate {
    let heard = Recorder<String>()
    func didPlay(_ song: String) { heard.record("song") }
    func didEnd() { heard.record("end") }
  }

  @Test("after the end nothing is told, whatever other threads do at that moment")
  func completion() async {
    let player = Player()
    let listener = Listener()
    player.hub.subscribe(listener, to: PlayerDelegate.self)
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<50 { await player.play("\(task).\(number)") }
          await player.end()
        }
      }
    }
    await player.hub.drain()
    let history = listener.heard.history
    #expect(history.count { $0 == "end" } == 1)
    #expect(history.last == "end")
    #expect(history.count > 50)
  }
}
