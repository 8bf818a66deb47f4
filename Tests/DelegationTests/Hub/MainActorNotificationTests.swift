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

@Suite("Handlers on the main actor (C4)", .inTurn)
struct MainActorNotificationTests {
  @Test(
    "a closure that says @MainActor runs there, whether or not it awaits, in the order of posting")
  func closures() async {
    let hub = DelegateHub()
    let window = Window()
    hub.subscribe(window, to: Screen.self)
    hub.notify(Screen.self) { @MainActor in $0.lines.append("one") }
    hub.notify(Screen.self) { @MainActor in
      $0.lines.append("two")
      await $0.load()
    }
    hub.notify(Screen.self) { @MainActor screen in
      MainActor.assertIsolated()
      screen.lines.append("three")
    }
    await hub.notifyAndWait(Screen.self) { @MainActor in $0.lines.append("four") }
    #expect(await window.lines == ["one", "two", "loaded", "three", "four"])
    #expect(await hub.vote(Screen.self) { @MainActor in $0.lines.count == 5 })
  }

  @Test("one that throws has failed")
  func throwing() async {
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { _ in }
    let hub = DelegateHub(configuration)
    let window = Window()
    hub.subscribe(window, to: Screen.self)
    hub.notify(Screen.self) { @MainActor screen in
      if screen.lines.isEmpty { throw Refusal() }
    }
    await hub.drain()
    #expect(await hub.statistics().counts.failed == 1)
  }
}
