import Histogram
import Testing

@testable import stress

@Suite("What stress records")
struct LatenciesTests {
  @Test("latencies of all shards are put together")
  func merged() {
    let latencies = Latencies()
    for number in 1...1000 { latencies.record(UInt64(number) * 1000, of: number) }
    let all = latencies.merged()
    #expect(all.totalCount == 1000)
    #expect((499_000...501_500).contains(all.valueAtPercentile(50)))
    #expect((999_000...1_001_000).contains(all.valueAtPercentile(100)))
  }

  @Test("violations of a kind are counted, kinds are sorted")
  func violations() {
    let violations = Violations()
    violations.record("b")
    violations.check(true, "never")
    violations.check(false, "a")
    violations.record("b")
    #expect(violations.list == ["a", "b, 2 x"])
  }

  @Test(
    "numbers have a comma after every third digit",
    arguments: [
      (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000"),
    ])
  func grouped(number: Int, text: String) {
    #expect(number.grouped == text)
  }

  @Test("the same seed gives the same numbers")
  func dice() {
    var (one, other, third) = (Dice(seed: 7), Dice(seed: 7), Dice(seed: 8))
    let numbers = (0..<100).map { _ in one.roll(6) }
    #expect(numbers == (0..<100).map { _ in other.roll(6) })
    #expect(numbers != (0..<100).map { _ in third.roll(6) })
    #expect(Set(numbers) == Set(0..<6))
  }
}
