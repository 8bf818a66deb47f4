import Foundation
import Testing

@testable import compare

@Suite("The record of a run")
struct RecordTests {
  private let conditions = Record.Conditions(system: "here", cores: 2, load: 0.25, rounds: 3)

  /// What a program reads of a record.
  private struct Reading: Decodable {
    struct Conditions: Decodable {
      let cores, rounds: Int
      let load: Double
      let system: String
    }
    struct Entry: Decodable {
      let row, per, scale, who: String
      let figure: [Double]
      let against: String?
      let itsFigure, ratio: [Double]?
    }
    let conditions: Conditions
    let lines: [Entry]
  }

  private func reading(_ lines: [Line]) throws -> Reading {
    let text = try Record(conditions: conditions, lines: lines).text()
    return try JSONDecoder().decode(Reading.self, from: Data(text.utf8))
  }

  @Test("it has the conditions, and of each line both figures and the ratio")
  func comparison() throws {
    let line = Line(
      row: "row", unit: "voter", scale: .nanoseconds, comparison: .of(against: "peer"),
      figure: Samples([1, 2, 3]), reference: Samples([30, 10, 20]), ratio: Samples([0.5]))
    let record = try reading([line])
    #expect(record.conditions.cores == 2 && record.conditions.rounds == 3)
    #expect(record.conditions.load == 0.25 && record.conditions.system == "here")
    let entry = try #require(record.lines.first)
    #expect(record.lines.count == 1)
    #expect(entry.row == "row" && entry.per == "voter" && entry.scale == "ns")
    #expect(entry.who == "hub" && entry.against == "peer")
    #expect(entry.figure == [1.5, 2, 2.5])
    #expect(entry.itsFigure == [15, 20, 25])
    #expect(entry.ratio == [0.5, 0.5, 0.5])
  }

  @Test("a figure that stands alone has no other beside it")
  func alone() throws {
    let line = Line(
      row: "row", unit: "thing", scale: .bytes, comparison: .alone("somebody"),
      figure: Samples([64]))
    let entry = try #require(try reading([line]).lines.first)
    #expect(entry.who == "somebody" && entry.scale == "bytes")
    #expect(entry.against == nil && entry.itsFigure == nil && entry.ratio == nil)
  }

  @Test("figures have four digits that count, and each line of the table its own in the text")
  func text() throws {
    let line = Line(
      row: "row", unit: "thing", scale: .bytes, comparison: .alone("hub"),
      figure: Samples([1234.5678]))
    #expect(try reading([line]).lines.first?.figure == [1235, 1235, 1235])
    let text = try Record(conditions: conditions, lines: [line, line]).text()
    #expect(text.split(separator: "\n").count == 4)
  }
}
