import Testing

@testable import Delegation

@Suite("WaitGraph: handlers of several hubs that wait for each other's hubs", .inTurn(.heavy))
struct WaitGraphHubsTests {
  /// A handler, by its hub and its place there.
  private struct Name: Hashable {
    var hub: Int
    var handler: Int
  }

  private struct Want {
    enum Goal {
      case rest(Int)
      case end(hub: Int, node: Int)
    }

    var name: Name
    var goal: Goal
  }

  private static let layouts = HandlerScene.all(handlers: 3, subscribers: 2)

  @Test("whatever they wait for, those go on that sets say, and at last all do")
  func agreesWithSets() {
    for seed in races(4_000) {
      var dice = Dice(seed: UInt64(seed))
      let waits = HandlerWaits()
      let scenes = (0..<3).map { _ in
        HandlerScene(
          Self.layouts[dice.roll(Self.layouts.count)], subscribers: 2, waits: waits)
      }
      #expect(play(scenes, waits, &dice), "seed \(seed)")
    }
  }

  /// Lets handlers begin to wait and end at random.
  ///
  /// - Returns: whether those went on that should, and at last all.
  private func play(
    _ scenes: [HandlerScene], _ waits: HandlerWaits, _ dice: inout Dice
  ) -> Bool {
    // Mostly for hubs, as that is what is found out without a search.
    let prefersHubs = dice.roll(4) > 0
    var idle = scenes.enumerated().flatMap { hub, scene in
      scene.parts.indices.map { Name(hub: hub, handler: $0) }
    }.shuffled(using: &dice)
    var ended: Set<Name> = []
    var waiting: [(ticket: Int, want: Want)] = []
    var wentOn: [Name] = []
    var tickets = 0

    func mayEnd(_ name: Name) -> Bool {
      !scenes[name.hub].parts.indices.contains {
        scenes[name.hub].parts[$0].parent == name.handler
          && !ended.contains(Name(hub: name.hub, handler: $0))
      }
    }

    while ended.count < 9 {
      if let name = idle.last, dice.roll(3) > 0 || wentOn.isEmpty {
        idle.removeLast()
        let hub = dice.roll(3)
        let goal: Want.Goal =
          prefersHubs || dice.roll(2) == 0 ? .rest(hub) : .end(hub: hub, node: dice.roll(2))
        let want = Want(name: name, goal: goal)
        let scene = scenes[name.hub]
        switch goal {
        case .rest(let hub):
          waits.begin(
            tickets, .rest(of: scenes[hub].board.activity), in: scene.contexts[name.handler])
        case .end(let hub, let node):
          waits.begin(tickets, .end(of: scenes[hub].nodes[node]), in: scene.contexts[name.handler])
        }
        waiting.append((tickets, want))
        tickets += 1
      } else if let place = wentOn.lastIndex(where: mayEnd) {
        let name = wentOn.remove(at: place)
        scenes[name.hub].end(name.handler)
        ended.insert(name)
      } else if idle.isEmpty {
        return false
      }
      let fulfilled = Set(waits.takeFulfilled())
      let expected = waiting.filter { one in
        isFulfilled(
          one.want, after: waiting.filter { $0.ticket < one.ticket }.map(\.want), scenes, ended)
      }
      guard Set(expected.map(\.ticket)) == fulfilled else { return false }
      wentOn += expected.map(\.want.name)
      waiting.removeAll { fulfilled.contains($0.ticket) }
    }
    return waits.count == 0
  }

  // MARK: The model

  private func isFulfilled(
    _ want: Want, after earlier: [Want], _ scenes: [HandlerScene], _ ended: Set<Name>
  ) -> Bool {
    var still = chain(of: want.name, scenes)
    for _ in earlier {
      for other in earlier where !needed(other, scenes, ended).isDisjoint(with: still) {
        still.formUnion(chain(of: other.name, scenes))
      }
    }
    return needed(want, scenes, ended).isSubset(of: still)
  }

  /// The handler, and those that await it.
  private func chain(of name: Name, _ scenes: [HandlerScene]) -> Set<Name> {
    var chain: Set<Name> = []
    var next: Int? = name.handler
    while let handler = next {
      chain.insert(Name(hub: name.hub, handler: handler))
      next = scenes[name.hub].parts[handler].parent
    }
    return chain
  }

  private func needed(
    _ want: Want, _ scenes: [HandlerScene], _ ended: Set<Name>
  ) -> Set<Name> {
    let names: [Name] =
      switch want.goal {
      case .rest(let hub):
        scenes[hub].parts.indices.map { Name(hub: hub, handler: $0) }
      case .end(let hub, let node):
        scenes[hub].parts.indices.filter { scenes[hub].parts[$0].node == node }
          .map { Name(hub: hub, handler: $0) }
      }
    return Set(names).subtracting(ended)
  }
}
