import Testing

@testable import compare

@Suite("Compare measures, prints, records and checks")
struct CompareTests {
  private static func result(_ size: Int, center: Double, row: String = "call now") -> Result {
    Result(
      row: row, size: size, unit: .nanoseconds, figures: [.hub: 100, .center: 100 * center],
      ratios: [.hub: 1, .center: center], costs: [.hub: 1, .center: center])
  }

  @Test("numbers have two or three digits, and units that suit")
  func numbers() {
    let texts = [0.4, 99.6, 999.4, 999.6, 12_345, 4.2e9].map { Table.text($0, .nanoseconds) }
    #expect(texts == ["0.4 ns", "100 ns", "999 ns", "1.0 µs", "12 µs", "4200 ms"])
    #expect(
      [0.024, 0.11, 9.94, 9.96, 129].map(Table.ratio) == [
        "0.02 x", "0.1 x", "9.9 x", "10 x", "129 x",
      ])
    #expect([[3, 1, 2], [4, 1, 2, 3]].map(median) == [2, 3])
  }

  @Test("a table is written into a page, and found there again")
  func sheet() {
    let two = Result(
      row: "two", size: 3, unit: .callers, figures: [.hub: 1.4], ratios: [.hub: 1.4], costs: [:])
    let sheet = Sheet(of: [
      Self.result(1, center: 3), Self.result(10, center: 12), Self.result(1, center: 2, row: "b"),
      Self.result(10, center: 2.5, row: "b"), two,
    ])
    #expect(
      sheet.lines == [
        "| what, among 1/10 | the hub | NotificationCenter |", "| --- | ---: | ---: |",
        "| call now | 100 ns, 100 ns | 3.0/12 |", "| b | 100 ns, 100 ns | 2.0/2.5 |",
        "| two, among 3 | 1.4 x |  |",
      ])
    let page = sheet.replacing(in: "before\n\n| what, among 1 | old |\n| --- |\n\nafter\n")
    #expect(page == "before\n\n\(sheet.lines.joined(separator: "\n"))\n\nafter\n")
    #expect(sheet.replacing(in: page) == page && sheet.replacing(in: "nothing") == "nothing")
  }

  @Test("how much dearer the hub has become beside the others")
  func record() throws {
    let record = try Record(text: Record([Self.result(10, center: 12)]).text)
    #expect(abs(record.growth(of: [Self.result(10, center: 6)]) - 2) < 0.01)
    #expect(record.growth(of: [Self.result(10, center: 1, row: "another")]) == .infinity)
  }

  @Test("each row measures everybody", arguments: Row.all.map(\.name))
  func row(name: String) async throws {
    let row = try #require(Row.all.first { $0.name == name })
    let result = await row.measure(among: 3, Plan(rounds: 3, turn: 1e5))
    #expect(result.costs[.hub] == 1)
    #expect(result.figures.count > 1 && result.figures.values.allSatisfy { $0 > 0 })
  }

  @Test("pictures are drawn")
  func picture() {
    let results = [1, 10].map { Self.result($0, center: 3, row: "streams, in bursts of 100") }
    let picture = Picture(of: results, isDark: false).text
    #expect(picture.contains("Streams, an event and loop") && picture.hasSuffix("</svg>\n"))
  }
}
