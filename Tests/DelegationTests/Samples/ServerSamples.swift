import Delegation
import Foundation
import Testing

@Suite("Samples of a server", .inTurn)
struct ServerSamples {
  protocol ServerDelegate: AnyObject, Sendable {
    func didClose(_ connection: Int) async
  }

  final class Audit: ServerDelegate {
    let closed = Recorder<Int>()

    func didClose(_ connection: Int) async {
      await Task.yield()
      closed.record(connection)
    }
  }

  struct Listener {
    let hub: DelegateHub

    func stop() {
      for connection in 0..<100 {
        hub[ServerDelegate.self].notify { await $0.didClose(connection) }
      }
    }
  }

  @Test("a server that is told to end handles what it posts while it stops")
  func terminated() async {
    await #expect(processExitsWith: .success) {
      let (hub, audit) = (DelegateHub(), Audit())
      hub.subscribe(audit, to: ServerDelegate.self)
      let listener = Listener(hub: hub)
      // Signals until one is heard: the first ones may come before the sample begins.
      signal(SIGTERM, SIG_IGN)
      let sending = Task {
        while !Task.isCancelled {
          kill(getpid(), SIGTERM)
          await Task.yield()
        }
      }
      // sample: SIGTERM
      signal(SIGTERM, SIG_IGN)  // before the source is made: otherwise it ends the process
      let source = DispatchSource.makeSignalSource(signal: SIGTERM)
      let signals = AsyncStream<Void> { signals in
        source.setEventHandler { signals.yield() }
      }
      source.resume()
      for await _ in signals { break }
      source.cancel()

      listener.stop()
      let left = await hub.drain(within: .seconds(5))
      if !left.isEmpty { print("not handled: \(left)") }
      // end of sample
      sending.cancel()
      #expect(left.isEmpty && audit.closed.events == Array(0..<100))
    }
  }
}
