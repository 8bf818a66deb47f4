import Synchronization
import Testing

@testable import compare

@Suite("Contests: what is measured is what is shown")
struct ContestTests {
  /// Turns that end at once, so that calibration asks for one or few iterations.
  private let plan = Plan(rounds: 9, turn: 1, skipsSlowControls: true, countings: 1)

  /// A contestant whose iterations take as long as said, by its own account.
  private func contestant(
    _ name: String, units: Int = 1, _ time: @escaping @Sendable (_ call: Int) -> Double
  ) -> Contestant {
    let calls = Count()
    return Contestant(
      name, units: units, keeping: [],
      timing: { iterations in
        calls.add(1)
        return time(calls.value) * Double(iterations)
      })
  }

  @Test("figures are per unit, whatever the number of iterations")
  func units() async {
    let contest = Contest(
      id: "row", unit: "delivery",
      contestants: [contestant("hub", units: 4) { _ in 100 }, contestant("peer") { _ in 50 }],
      comparisons: [.of(against: "peer", target: .within(1)), .alone("peer")])
    let lines = await contest.run(plan)
    #expect(lines.map(\.figure.median) == [25, 50])
    #expect(lines[0].ratio?.median == 0.5)
    #expect(lines[0].result == 0.5)
    #expect(lines[1].ratio == nil)
  }

  @Test("ratios are taken within a round: a slow round slows down both")
  func rounds() async {
    // Every call takes longer than the one before, for both alike; medians' ratio would be the same by
    // chance only.
    let contest = Contest(
      id: "row", unit: "call",
      contestants: [
        contestant("hub") { Double($0 * $0) * 3 }, contestant("peer") { Double($0 * $0) },
      ],
      comparisons: [.of(against: "peer")])
    let lines = await contest.run(plan)
    #expect(lines[0].ratio?.middleHalf == 3...3)
    #expect(lines[0].figure.middleHalf.lowerBound < lines[0].figure.middleHalf.upperBound)
  }

  @Test("a soloist runs alone, and without ratios")
  func soloist() async {
    var plan = plan
    plan.soloist = "hu"
    let contest = Contest(
      id: "row", unit: "call",
      contestants: [contestant("hub") { _ in 3 }, contestant("peer") { _ in 1 }],
      comparisons: [.of(against: "peer", target: .within(1))])
    let lines = await contest.run(plan)
    #expect(lines.map(\.comparison.subject) == ["hub"])
    #expect(lines[0].ratio == nil && lines[0].excess == nil)
  }

  @Test("a burst has ended when everybody has heard all of it, and not before")
  func crowd() async {
    let crowd = Crowd(2, burst: 3)
    let hasEnded = Count()
    crowd.start()
    async let end: Void = {
      await crowd.wait()
      hasEnded.add(1)
    }()
    for listener in crowd.listeners {
      for _ in 0..<2 { listener.didPerform(Request(id: 0, units: 1)) }
    }
    crowd.listeners[0].didPerform(Request(id: 0, units: 1))
    #expect(hasEnded.value == 0)
    crowd.listeners[1].didPerform(Request(id: 0, units: 1))
    await end
    #expect(hasEnded.value == 1)
  }

  @Test("every row's name is its own, and found by it")
  func rows() {
    let names = Suite.rows.map(\.id)
    #expect(Set(names).count == names.count)
    #expect(Suite.rows(named: "notify.100").map(\.id) == ["notify.100"])
    #expect(Suite.rows(named: "vote.class").count == names.count { $0.contains("vote.class") })
    #expect(Suite.rows(named: nil).count == names.count)
  }
}
