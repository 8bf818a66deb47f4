import Testing

@testable import Delegation

// Methods that not every subscriber wants. Either they are a small protocol of their own…

/// What every subscriber of a download is told.
protocol DownloadObserver: AnyObject, Sendable {
  func downloadDidEnd(_ name: String)
  /// …or they have a default implementation.
  func download(_ name: String, didReach percentage: Int)
}

extension DownloadObserver {
  func download(_ name: String, didReach percentage: Int) {}
}

/// What those say who may refuse a download.
protocol DownloadGatekeeper: AnyObject, Sendable {
  func mayDownload(_ name: String) async -> Bool
}

@Suite("Optional methods", .inTurn)
struct OptionalMethodTests {
  /// Wants the one method only.
  private final class Log: DownloadObserver {
    let events = Recorder<String>()

    func downloadDidEnd(_ name: String) { events.record("\(name) ended") }
  }

  /// Wants all of them, and a say.
  private final class Screen: DownloadObserver, DownloadGatekeeper {
    let events = Recorder<String>()

    func downloadDidEnd(_ name: String) { events.record("\(name) ended") }
    func download(_ name: String, didReach percentage: Int) {
      events.record("\(name) at \(percentage) %")
    }
    func mayDownload(_ name: String) async -> Bool { name != "virus" }
  }

  @Test("a method with a default implementation is called on those who have one of their own")
  func defaultImplementation() async {
    let hub = DelegateHub()
    let (log, screen) = (Log(), Screen())
    hub.subscribe(log, to: DownloadObserver.self)
    hub.subscribe(screen, to: DownloadObserver.self)
    hub[DownloadObserver.self].notify() { $0.download("song", didReach: 50) }
    hub[DownloadObserver.self].notify() { $0.downloadDidEnd("song") }
    await hub.drain()
    #expect(log.events.history == ["song ended"])
    #expect(screen.events.history == ["song at 50 %", "song ended"])
  }

  @Test("a small protocol of its own asks only those who subscribed to it, and counts them")
  func smallProtocol() async {
    let hub = DelegateHub()
    let (log, screen) = (Log(), Screen())
    hub.subscribe(log, to: DownloadObserver.self)
    #expect(await hub[DownloadGatekeeper.self].vote() { await $0.mayDownload("virus") })
    hub.subscribe(screen, to: DownloadObserver.self)
    hub.subscribe(screen, to: DownloadGatekeeper.self)
    #expect(await hub[DownloadGatekeeper.self].vote() { await $0.mayDownload("song") })
    #expect(await hub[DownloadGatekeeper.self].vote() { await $0.mayDownload("virus") } == false)
    #expect(hub[DownloadGatekeeper.self].count == 1)
    #expect(hub[DownloadObserver.self].count == 2)
    hub.unsubscribe(screen)
    #expect(hub[DownloadGatekeeper.self].count == 0)
    #expect(hub[DownloadObserver.self].count == 1)
  }
}
