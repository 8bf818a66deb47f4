import Testing

@testable import Delegation

/// By the number of handlers and waits that are looked at, which no busy machine changes.
@Suite("WaitGraph: what it costs when many handlers wait", .inTurn)
struct WaitGraphStepsTests {
  /// That many deliveries, each to a subscriber of its own, in one hub.
  fileprivate static func deliveries(
    _ count: Int, waits: HandlerWaits = HandlerWaits()
  ) -> HandlerScene {
    HandlerScene(
      (0..<count).map { HandlerScene.Part(node: $0, isDelivery: true) }, subscribers: count,
      waits: waits)
  }

  /// Has all handlers wait in turn, and each end when it goes on; gives the steps that took.
  fileprivate static func steps(
    _ scene: HandlerScene, leaving others: Int = 0, _ goal: (Int) -> WaitGoal
  ) -> Int {
    for handler in scene.parts.indices {
      scene.waits.begin(handler, goal(handler), in: scene.contexts[handler])
    }
    while scene.workers > 0 {
      let fulfilled = scene.waits.takeFulfilled()
      if fulfilled.isEmpty {
        Issue.record("\(scene.workers) wait for ever")
        break
      }
      for handler in fulfilled { scene.end(handler) }
    }
    #expect(scene.waits.count == others)
    return scene.waits.steps
  }

  @Test("handlers that drain their own hub look at nobody")
  func drains() {
    for count in [10, 100, 1_000] {
      let scene = Self.deliveries(count)
      let goal = WaitGoal.rest(of: scene.inbox.activity)
      #expect(Self.steps(scene) { _ in goal } == 0, "\(count) handlers")
    }
  }

  @Test("nor do they while a handler of another hub waits")
  func drainsBesideAnother() {
    for count in [10, 100, 1_000] {
      let waits = HandlerWaits()
      let others = (0..<2).map { _ in
        HandlerScene([.init(node: 0)], subscribers: 1, waits: waits)
      }
      waits.begin(-1, .rest(of: others[1].inbox.activity), in: others[0].contexts[0])
      let scene = Self.deliveries(count, waits: waits)
      let goal = WaitGoal.rest(of: scene.inbox.activity)
      #expect(Self.steps(scene, leaving: 1) { _ in goal } == 0, "\(count) handlers")
      others[1].end(0)
      #expect(waits.takeFulfilled() == [-1])
    }
  }

  @Test(
    "handlers that each notify all of them and wait look at no more than the square of their number"
  )
  func notifyAndWait() {
    for count in [10, 100, 200] {
      let scene = Self.deliveries(count)
      let receipts = (0..<count).map { _ in scene.postWithReceipt() }
      let steps = Self.steps(scene) { .passing(of: receipts[$0]) }
      #expect(steps <= 4 * count * count, "\(count) handlers")
    }
  }

  @Test(
    "handlers of hubs in a circle that drain the next one's look at hubs, not at each other",
    arguments: [2, 4])
  func drainsOfEachOther(hubs: Int) {
    for count in [10, 100, 1_000 / hubs] {
      let waits = HandlerWaits()
      let scenes = (0..<hubs).map { _ in Self.deliveries(count, waits: waits) }
      for handler in 0..<count {
        for (hub, scene) in scenes.enumerated() {
          let goal = WaitGoal.rest(of: scenes[(hub + 1) % hubs].inbox.activity)
          waits.begin(hubs * handler + hub, goal, in: scene.contexts[handler])
        }
      }
      for ticket in (0..<hubs * count).reversed() {
        #expect(waits.takeFulfilled() == [ticket], "\(count) handlers")
        scenes[ticket % hubs].end(ticket / hubs)
      }
      #expect(waits.count == 0)
      // Each of them looks three times at each hub at most.
      #expect(waits.steps <= 3 * hubs * hubs * count, "\(count) handlers")
    }
  }

  @Test("a search looks once at each handler that stands still, and at each wait for it")
  func search() {
    let scene = HandlerScene([.init(node: 0), .init(node: 1)], subscribers: 2)
    for handler in 0..<2 {
      scene.waits.begin(
        handler, .end(of: scene.nodes[1 - handler]), in: scene.contexts[handler])
    }
    #expect(scene.waits.takeFulfilled() == [1])
    // Both of them, and both of their waits, of which each is for the other one.
    #expect(scene.waits.steps == 4)
    scene.end(1)
    #expect(scene.waits.takeFulfilled() == [0])
  }

  @Test("in a ring of hubs, only the last one looks at all")
  func ring() {
    for count in [10, 100, 1_000] {
      let waits = HandlerWaits()
      let scenes = (0..<count).map { _ in
        HandlerScene([.init(node: 0)], subscribers: 1, waits: waits)
      }
      for (number, scene) in scenes.enumerated() {
        let next = scenes[(number + 1) % count].inbox.activity
        waits.begin(number, .rest(of: next), in: scene.contexts[0])
      }
      for number in scenes.indices.reversed() {
        #expect(waits.takeFulfilled() == [number])
        scenes[number].end(0)
      }
      // It comes to each of them, and sees twice of each but its own that it stands still.
      #expect(waits.steps == 3 * count - 2, "\(count) hubs")
    }
  }
}
