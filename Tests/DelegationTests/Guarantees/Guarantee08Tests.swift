import Delegation
import Testing

@Suite("Guarantee 8: asked side by side", .inTurn)
struct Guarantee08Tests {
  /// The questions that are asked side by side.
  static let sideBySide = Reach.asking.filter { ![.askInTurn, .pass].contains($0) }

  @Test("all are suspended in their answers at the same time", arguments: [1, 2, 10, 300])
  func together(count: Int) async {
    let (hub, gate) = (DelegateHub(), Gate())
    hub.cast(count)
    await withTaskGroup { group in
      for reach in Self.sideBySide {
        group.addTask { await reach.call(hub) { _ in await gate.pass() } }
      }
      // If one waited for another, these would never be complete.
      await gate.arrivals(Self.sideBySide.count * count)
      gate.open()
    }
    #expect(hub.statistics().questions.answered == Self.sideBySide.count * count)
  }

  @Test("a vote within a vote is asked side by side, too, and a hundred deep")
  func nested() async {
    let (hub, gate) = (DelegateHub(), Gate())
    for probe in hub.cast(5) { hub.subscribe(probe, to: Bystander.self) }
    async let answers = hub.listeners.ask(combining: .all()) { outer in
      await hub.bystanders.ask(combining: .all()) { inner in
        await gate.pass()
        return "\(outer.name)\(inner.name)"
      }
    }
    await gate.arrivals(25)
    gate.open()
    #expect(await answers == (0..<5).map { outer in (0..<5).map { "\(outer)\($0)" } })
    @Sendable func count(from depth: Int) async -> Int {
      if depth == 100 { return 0 }
      return await hub.listeners.ask(combining: .max()) { probe in
        probe.name == "0" ? await count(from: depth + 1) + 1 : 0
      } ?? 0
    }
    #expect(await count(from: 0) == 100)
  }
}
