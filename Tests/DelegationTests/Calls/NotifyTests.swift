import Delegation
import Testing

@MainActor
private protocol Screen: AnyObject, Sendable {
  var lines: [String] { get set }
  func load() async
}

@MainActor
private final class Window: Screen {
  var lines: [String] = []
  nonisolated init() {}
  func load() async { lines.append("loaded") }
}

@Suite("notify", .inTurn)
struct NotifyTests {
  @Test("all forms come in the order of posting, and each runs where it belongs")
  func order() async {
    let hub = DelegateHub()
    let window = Window()
    hub.subscribe(window, to: Screen.self, on: DispatchQueueExecutor(MarkedQueue.make("own")))
    let screens = hub[Screen.self]
    let places = Recorder<String>()
    screens.notify { @MainActor in $0.lines.append("one") }
    screens.notify { @MainActor in
      $0.lines.append("two")
      await $0.load()
    }
    screens.notify { _ in places.record(MarkedQueue.current) }
    screens.notify { screen in
      await screen.load()
      places.record(MarkedQueue.current)
    }
    screens.notify { @MainActor screen in
      MainActor.assertIsolated()
      screen.lines.append("three")
    }
    await screens.notifyAndWait { @MainActor in $0.lines.append("four") }
    #expect(await window.lines == ["one", "two", "loaded", "loaded", "three", "four"])
    #expect(places.history == ["own", "own"])
  }

  @Test("who posts in a handler is heard after what was posted before")
  func within() {
    let stage = Stage()
    let probes = stage.cast(2)
    stage.hub[Listener.self].notify { [hub = stage.hub] probe in
      if probe.name == "0" { hub[Listener.self].notify { $0.log.record(3) } }
      probe.log.record(1)
    }
    stage.hub[Listener.self].notify { $0.log.record(2) }
    stage.run()
    #expect(probes.map(\.log.history) == [[1, 2, 3], [1, 2, 3]])
  }

  @Test("a function may be passed by its name")
  func byName() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    @Sendable func plain(_ probe: any Listener) { probe.log.record(1) }
    @Sendable func awaiting(_ probe: any Listener) async throws {
      await Task.yield()
      probe.log.record(2)
    }
    hub[Listener.self].notify(plain)
    hub[Listener.self].notify(awaiting)
    await hub[Listener.self].notifyAndWait(plain)
    #expect(probe.log.history == [1, 2, 1])
  }

  @Test("a limit holds for more than 4096 notifications that come before any is handled")
  func limit() {
    let (stage, probe) = (Stage(), Probe())
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .dropOldest(limit: 3))
    for number in 1...10_000 { stage.hub[Listener.self].notify { $0.log.record(number) } }
    stage.run()
    #expect(probe.log.history == [9_998, 9_999, 10_000])
  }
}
