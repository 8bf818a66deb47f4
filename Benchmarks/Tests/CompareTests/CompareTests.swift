import Testing

@testable import compare

@Suite("Compare measures, prints, records and checks")
struct CompareTests {
  private static func result(_ size: Int, center: Double, row: String = "call now") -> Result {
    Result(
      row: row, size: size, unit: .nanoseconds, figures: [.hub: 100, .center: 100 * center],
      ratios: [.hub: 1, .center: center])
  }

  @Test("numbers have two or three digits, and units that suit")
  func numbers() {
    let texts = [0.4, 99.6, 999.4, 999.6, 12_345, 4.2e9].map { Table.text($0, .nanoseconds) }
    #expect(texts == ["0.4 ns", "100 ns", "999 ns", "1.0 µs", "12 µs", "4200 ms"])
    #expect(
      [0.024, 0.11, 9.94, 9.96, 129].map(Table.ratio) == [
        "0.02 x", "0.1 x", "9.9 x", "10 x", "129 x",
      ])
    #expect([[3, 1, 2], [4, 1, 2, 3]].map(median) == [2, 2.5])
  }

  @Test("a table is recorded in a page, and found there again")
  func sheet() throws {
    let sheet = Sheet(of: [
      Self.result(1, center: 3), Self.result(10, center: 12), Self.result(1, center: 2, row: "b"),
      Self.result(10, center: 2.5, row: "b"),
    ])
    #expect(
      sheet.lines[0].hasPrefix("| what, among 1/10 | the hub | loop | NotificationCenter |"))
    #expect(sheet.lines[2] == "| call now | 100 ns, 100 ns |  | 3.0/12 x |  |  |  |")
    let page = try #require(
      sheet.replacing(in: "before\n\n| what, among 1 | old |\n| --- |\n\nafter\n"))
    #expect(page.hasPrefix("before\n\n| what, among 1/10") && page.hasSuffix(" |\n\nafter\n"))
    #expect(Sheet(in: page)?.lines == sheet.lines)
    #expect(Sheet(in: "nothing") == nil)
    #expect(sheet.misses(of: Self.result(10, center: 6.1)) == [])
    #expect(
      sheet.misses(of: Self.result(10, center: 5.9)) == [
        "call now, among 10: NotificationCenter took 5.9 x as long, Benchmarks/README.md says 12 x"
      ])
    #expect(sheet.misses(of: Self.result(10, center: 1, row: "c")) == ["c is not in the table"])
  }

  @Test("each row measures everybody", arguments: Row.all.map(\.name))
  func row(name: String) async throws {
    let row = try #require(Row.all.first { $0.name == name })
    let result = await row.measure(among: 3, Plan(rounds: 3, turn: 1e5))
    #expect(result.ratios[.hub] == 1)
    // Other tests allocate and free memory meanwhile.
    let isRight = result.figures.values.allSatisfy { result.unit == .bytes ? $0.isFinite : $0 > 0 }
    #expect(result.figures.count > 1 && isRight)
  }

  @Test("a turn takes as long as all of its times, and pictures are drawn")
  func picture() async {
    /// Says that it has taken so long each time.
    @Sendable func turn(_ cost: Int) -> Turn {
      { times in
        for _ in 0..<times { await Task.yield() }
        return Double(times * cost)
      }
    }
    let row = Row(name: "streams, in bursts of 100", unit: "") { size in
      [(.hub, turn(size)), (.tasks, turn(2 * size))]
    }
    var results: [Result] = []
    for size in [1, 10] {
      results.append(await row.measure(among: size, Plan(rounds: 2, turn: 1e4)))
    }
    #expect(results.map { $0.figures[.hub] } == [1, 10])
    #expect(results.map { $0.ratios[.tasks] } == [2, 2])
    let picture = Picture(of: results, isDark: false).text
    #expect(picture.contains("Streams, an event and loop") && picture.hasSuffix("</svg>\n"))
  }
}
