import Synchronization
import Testing

@testable import compare

@Suite("The gate: which missed targets fail the program")
struct GateTests {
  /// A line whose hub takes so many times as long as a peer, or has that figure itself.
  private func line(_ target: Target?, result: Double, row: String = "row") -> Line {
    Line(
      row: row, unit: "delivery", scale: .nanoseconds,
      comparison: .of(against: "peer", target: target), figure: Samples([100 * result]),
      reference: Samples([100]), ratio: Samples([result]))
  }

  private func alone(_ target: Target, figure: Double) -> Line {
    Line(
      row: "row", unit: "thing", scale: .bytes, comparison: .alone("hub", target: target),
      figure: Samples([figure]))
  }

  private let gate = Gate(noise: 0.10, shortfalls: [])

  @Test("a line without a target is not judged")
  func noTarget() {
    #expect(gate.verdict(on: line(nil, result: 1000)) == nil)
  }

  @Test(
    "times as long: to the target it is reached, then within noise, then missed",
    arguments: [(1.19, Gate.Verdict.reached), (1.20, .reached), (1.31, .narrow), (1.33, .missed)])
  func within(result: Double, verdict: Gate.Verdict) {
    #expect(gate.verdict(on: line(.within(1.2), result: result)) == verdict)
  }

  @Test(
    "times faster: the other way round",
    arguments: [(1 / 8.1, Gate.Verdict.reached), (1 / 7.4, .narrow), (1 / 7.2, .missed)])
  func faster(result: Double, verdict: Gate.Verdict) {
    #expect(gate.verdict(on: line(.faster(8), result: result)) == verdict)
  }

  @Test("a peer that is faster than the hub misses a target of being faster")
  func slowerThanFaster() {
    #expect(gate.verdict(on: line(.faster(8), result: 2)) == .missed)
  }

  @Test("what hangs on the kernel's wakes is allowed twice the noise, what is counted next to none")
  func allowances() {
    #expect(gate.verdict(on: line(.within(1, noise: .wakes), result: 1.19)) == .narrow)
    #expect(gate.verdict(on: line(.within(1, noise: .wakes), result: 1.21)) == .missed)
    #expect(gate.verdict(on: alone(.atMost(300, noise: .counted), figure: 314)) == .narrow)
    #expect(gate.verdict(on: alone(.atMost(300, noise: .counted), figure: 316)) == .missed)
  }

  @Test("more noise allowed does not move what is counted")
  func counted() {
    let tolerant = Gate(noise: 1, shortfalls: [])
    #expect(tolerant.verdict(on: line(.within(1), result: 1.9)) == .narrow)
    #expect(tolerant.verdict(on: alone(.atMost(300, noise: .counted), figure: 400)) == .missed)
  }

  @Test("a known shortfall passes as long as it is no worse than known")
  func known() {
    let gate = Gate(
      noise: 0.10,
      shortfalls: [Shortfall("row", against: "peer", result: 5)])
    #expect(gate.verdict(on: line(.within(1), result: 5.4)) == .known)
    #expect(gate.verdict(on: line(.within(1), result: 5.6)) == .worse)
    #expect(gate.verdict(on: line(.within(1), result: 0.9)) == .reached)
    // Of the faster kind, a lower number is worse.
    #expect(gate.verdict(on: line(.faster(8), result: 1 / 4.6)) == .known)
    #expect(gate.verdict(on: line(.faster(8), result: 1 / 4.4)) == .worse)
  }

  @Test("a known shortfall excuses no other line")
  func otherLines() {
    let shortfalls = [
      Shortfall("other row", against: "peer", result: 5),
      Shortfall("row", "somebody", against: "peer", result: 5),
      Shortfall("row", against: "other peer", result: 5),
      Shortfall("row", against: nil, result: 5),
    ]
    for shortfall in shortfalls {
      let gate = Gate(noise: 0.10, shortfalls: [shortfall])
      #expect(gate.verdict(on: line(.within(1), result: 5)) == .missed, "\(shortfall)")
    }
  }

  @Test(
    "a row that fails is measured again until it passes, but not for ever",
    arguments: [(passes: 1, measured: 1), (passes: 2, measured: 2), (passes: 9, measured: 3)])
  func again(passes: Int, measured: Int) async {
    let times = Mutex(0)
    let good = line(.within(1), result: 1)
    let bad = line(.within(1), result: 5)
    let row = Row("row") { _ in
      [
        times.withLock {
          $0 += 1
          return $0 < passes ? bad : good
        }
      ]
    }
    let lines = await row.measure(.quick, judgedBy: gate, again: 2)
    #expect(times.withLock { $0 } == measured)
    #expect(gate.verdict(on: lines[0]) == (passes <= measured ? .reached : .missed))
  }

  @Test("verdicts that fail the program are the missed and the worse")
  func failing() {
    let verdicts: [Gate.Verdict] = [.reached, .narrow, .known, .missed, .worse]
    #expect(verdicts.filter(\.fails) == [.missed, .worse])
  }

  @Test("a shortfall that is overcome is named, and one that is about nothing too")
  func upkeep() {
    let lines = [line(.within(1), result: 0.9), line(nil, result: 2, row: "other row")]
    let gate = Gate(
      noise: 0.10,
      shortfalls: [
        Shortfall("row", against: "peer", result: 5),
        Shortfall("other row", against: "peer", result: 5),
        Shortfall("no row", against: nil, result: 5),
      ])
    #expect(gate.overcome(in: lines).map(\.row) == ["row"])
    #expect(gate.baseless(in: lines).map(\.row) == ["other row", "no row"])
  }

  @Test("the table says what the gate says")
  func table() {
    var table = Table()
    table.append([line(.within(1), result: 2), line(nil, result: 3)])
    let printed = table.text(judgedBy: gate).split(separator: "\n")
    #expect(printed.count == 4)
    #expect(printed[0].contains("allowance") && printed[0].contains("reached"))
    #expect(
      printed[2].contains("2.00 x as long") && printed[2].hasSuffix("| 10 %      | no      |"))
    #expect(
      printed[3].contains("3.00 x as long") && printed[3].hasSuffix("|           |         |"))
  }
}
