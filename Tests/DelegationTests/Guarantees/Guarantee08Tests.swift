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

  @Test("answers that come in any order are given in the order of subscription")
  func anyOrder() async {
    for _ in rounds(10) {
      let (hub, gates) = (DelegateHub(), (0..<20).map { _ in Gate() })
      let (answered, order) = (Recorder<Int>(), Array(0..<20).shuffled())
      let names = hub.cast(20).map(\.name)
      let answer: @Sendable (any Listener) async -> String = { probe in
        let number = Int(probe.name)!
        // Every third one answers at once, and is held up by nobody.
        if number % 3 > 0 { await gates[number].pass() }
        answered.record(number)
        return probe.name
      }
      async let answers = hub.listeners.ask(combining: .all(), answer)
      async let replies = hub.listeners.collect(answer)
      _ = await answered.history(of: 14)
      for number in order where number % 3 > 0 {
        await gates[number].arrivals(2)
        gates[number].open()
      }
      #expect(await answers == names)
      #expect(await replies.map { try? $0.result.get() } == names)
    }
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
