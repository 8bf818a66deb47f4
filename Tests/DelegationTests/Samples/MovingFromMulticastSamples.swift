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
    let hub = DelegateHub()

    func receive(_ message: String) async {
      let isAccepted = await hub.vote(
        StreamGatekeeper.self
      ) {
        await $0.stream(
          self, shouldAccept: message)
      }
      guard isAccepted else { return }
      hub.notify(StreamDelegate.self) {
        $0.stream(self, didReceive: message)
      }
    }
  }
  // end of sample

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
    stream.hub.subscribe(
      archive, to: StreamDelegate.self,
      on: DispatchQueueExecutor(queue))
    stream.hub.subscribe(
      archive, to: StreamGatekeeper.self,
      on: DispatchQueueExecutor(queue))
    // end of sample
    for message in ["hello", "spam", "bye"] { await stream.receive(message) }
    await stream.hub.drain()
    #expect(archive.received.history == ["hello on archive", "bye on archive"])
  }

  @Test("delegates are looked up and enumerated")
  func enumerate() async {
    let multicast = DelegateHub()
    let (archive, roster) = (Archive(), Roster())
    multicast.subscribe(archive, to: StreamDelegate.self)
    multicast.subscribe(roster, to: StreamDelegate.self)
    multicast.subscribe(archive, to: StreamGatekeeper.self)
    let names = Recorder<String>()
    let print = { (delegate: any StreamDelegate) in names.record("\(type(of: delegate))") }
    // sample: Counting and enumerating
    // count
    let count = await multicast.subscriberCount(of: StreamDelegate.self)

    // countOfClass:
    let archives = await multicast.subscribers(of: StreamDelegate.self)
      .count { $0 is Archive }

    // hasDelegateThatRespondsToSelector:, for a protocol of its own
    let hasGatekeeper = await multicast.subscriberCount(of: StreamGatekeeper.self) > 0

    // delegateEnumerator
    for delegate in await multicast.subscribers(of: StreamDelegate.self) {
      print(delegate)
    }
    // end of sample
    #expect(count == 2)
    #expect(archives == 1)
    #expect(hasGatekeeper)
    #expect(names.history == ["Archive", "Roster"])
  }
}
