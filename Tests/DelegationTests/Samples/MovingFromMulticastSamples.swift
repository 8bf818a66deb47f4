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
    stream.hub.subscribe(archive, to: StreamDelegate.self)
    stream.hub.subscribe(screen, to: StreamDelegate.self, on: MarkedQueue.make("screen"))
    for message in ["hello", "bye"] {
      // sample: Calling an optional method of a stream
      stream.hub.delegates(StreamDelegate.self)
        .conforming(to: StreamTyping.self)
        .notify { $0.streamDidBeginTyping(stream) }
      // end of sample
      await stream.receive(message)
    }
    await stream.hub.drain()
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
    stream.hub.subscribe(
      archive, to: StreamDelegate.self,
      on: queue)
    stream.hub.subscribe(
      archive, to: StreamGatekeeper.self,
      on: queue)
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

    // countForSelector: and hasDelegateThatRespondsToSelector:
    let typists = multicast.delegates(StreamDelegate.self).conforming(to: StreamTyping.self)
    let isAnyTypist = !typists.isEmpty
    let typistCount = await typists.count

    // delegateEnumerator
    for delegate in await multicast.subscribers(of: StreamDelegate.self) {
      print(delegate)
    }
    // end of sample
    #expect(count == 2)
    #expect(archives == 1)
    #expect(!isAnyTypist)
    #expect(typistCount == 0)
    #expect(names.history == ["Archive", "Roster"])
  }
}
