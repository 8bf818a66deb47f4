import Testing

@testable import Delegation

@MainActor
private protocol Screen: AnyObject, Sendable {
  var lines: [String] { get set }
}

@MainActor
private final class Window: Screen {
  var lines: [String] = []
}

@Suite("Subscriptions that end on the main actor, and handlers on their way there", .inTurn)
@MainActor
struct MainActorCancellationTests {
  private let stage = Stage()

  /// Lets all handlers come to the main actor that are on their way there.
  private func settle() async {
    while stage.perform({ await $0.drain(within: .zero) })?.isEmpty != true { await Task.yield() }
  }

  @Test(
    "whoever has cancelled one on the main actor sees no handler of it begin there",
    arguments: [true, false])
  func cancelled(byDelegates: Bool) async {
    let window = Window()
    let subscription = stage.hub.subscribe(window, to: Screen.self)
    if byDelegates {
      stage.hub[Screen.self].notify { @MainActor in $0.lines.append("on its way") }
    } else {
      stage.hub[Screen.self].notify() { @MainActor in $0.lines.append("on its way") }
    }
    // The worker comes as far as it can: the main actor is busy with this test.
    stage.run()
    #expect(window.lines == [])
    subscription.cancel()
    await settle()
    #expect(window.lines == [])
    #expect(subscription.statistics.counts.cancelled == 1)
  }

  @Test("a handler that cancels everybody is the last to begin there")
  func everybody() async {
    let windows = (0..<5).map { _ in Window() }
    for window in windows { stage.hub.subscribe(window, to: Screen.self) }
    stage.hub[Screen.self].notify() { @MainActor [hub = stage.hub] in
      $0.lines.append("called")
      hub.unsubscribeAll(from: Screen.self)
    }
    stage.run()
    await settle()
    #expect(windows.flatMap(\.lines) == ["called"])
  }
}
