import Testing

@testable import Delegation

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

@Suite("Handlers on the main actor", .inTurn)
struct MainActorNotificationTests {
  @Test(
    "a closure that says @MainActor runs there, whether or not it awaits, in the order of posting")
  func closures() async {
    let hub = DelegateHub()
    let window = Window()
    hub.subscribe(window, to: Screen.self)
    hub[Screen.self].notify() { @MainActor in $0.lines.append("one") }
    hub[Screen.self].notify() { @MainActor in
      $0.lines.append("two")
      await $0.load()
    }
    hub[Screen.self].notify() { @MainActor screen in
      MainActor.assertIsolated()
      screen.lines.append("three")
    }
    await hub[Screen.self].notifyAndWait() { @MainActor in $0.lines.append("four") }
    #expect(await window.lines == ["one", "two", "loaded", "three", "four"])
    #expect(await hub[Screen.self].vote() { @MainActor in $0.lines.count == 5 })
  }

  @Test(
    "notifyAndWait begins there: one that has ended before the main actor is free is not called")
  func endedBefore() async {
    let hub = DelegateHub()
    let (window, ended) = (Window(), Window())
    hub.subscribe(window, to: Screen.self)
    for isShort in [false, true] {
      let subscription = hub.subscribe(ended, to: Screen.self)
      let left = await Task { @MainActor in
        async let left =
          isShort
          ? hub[Screen.self].notifyAndWait { @MainActor in $0.lines.append("two") }
          : hub[Screen.self].notifyAndWait() { @MainActor in $0.lines.append("one") }
        // The handler waits for the main actor, which this keeps.
        while subscription.statistics.counts.handling == 0 { Threads.pause() }
        subscription.cancel()
        return await left
      }.value
      #expect(left.isEmpty)
    }
    #expect(await window.lines == ["one", "two"])
    #expect(await ended.lines == [])
  }

  @Test("what waits behind one that waits for the main actor is discarded if the subscriber dies")
  @MainActor
  func dead() async {
    let hub = DelegateHub()
    var window: Window? = Window()
    let subscription = window.map { hub.subscribe($0, to: Screen.self) }
    hub[Screen.self].notify() { @MainActor in $0.lines.append("one") }
    // The handler waits for the main actor, which this keeps.
    while subscription?.statistics.counts.handling == 0 { Threads.pause() }
    hub[Screen.self].notify() { _ in }
    while subscription?.statistics.counts.waiting == 0 { Threads.pause() }
    window = nil
    hub[Screen.self].notify() { _ in }
    while subscription?.statistics.counts.waiting != 0 { Threads.pause() }
    #expect(subscription?.statistics.counts.expired == 2)
    await hub.drain()
    #expect(await hub.accounts() == .init(expired: 3))
  }

  @Test("a closure that says nothing, and awaits nothing, runs where the subscriber's handlers do")
  func unmarked() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self, on: MarkedQueue.make("own"))
    let places = Recorder<String>()
    await hub[Listener.self].notifyAndWait() { _ in places.record(MarkedQueue.current) }
    await hub[Listener.self].notifyAndWait { _ in places.record(MarkedQueue.current) }
    await hub[Listener.self].notifyAndWait() { @MainActor _ in places.record(MarkedQueue.current) }
    #expect(places.history.map { $0 == "own" } == [true, true, false])
    withExtendedLifetime(probe) {}
  }

  @Test("one that throws has failed")
  func throwing() async {
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { _ in }
    let hub = DelegateHub(configuration)
    let window = Window()
    hub.subscribe(window, to: Screen.self)
    hub[Screen.self].notify() { @MainActor screen in
      if screen.lines.isEmpty { throw Refusal() }
    }
    await hub.drain()
    #expect(await hub.statistics().counts.failed == 1)
  }
}
