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
    stream.delegates.subscribe(window, on: DispatchQueueExecutor(.main))
    for message in ["hello", "bye"] {
      stream.delegates.notify { $0.stream(stream, didReceive: message) }
    }
    await stream.delegates.hub.drain()
    #expect(await window.lines == ["hello", "bye"])
  }
}
