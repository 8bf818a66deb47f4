import Foundation
import Testing

@Suite("Faults: the documentation's table", .inTurn)
struct FaultTableTests {
  @Test("each row has a test whose name begins with it")
  func rowsAreTests() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let sources = tests.appending(path: "../../../Sources/Delegation/Delegation.docc/Faults.md")
    let article = try String(contentsOf: sources, encoding: .utf8)
    let table = try #require(article.firstMatch(of: /\| Fault \|(?s).*?\n\n/)).0
    // Without the links.
    let text = String(table).replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }
    let rows = text.matches(of: /(?m)^\| ([^|]+?) \|/).map { String($0.1) }
      .filter { $0 != "Fault" && $0 != "---" }
    var names: [String] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: tests.path)
    where file.hasPrefix("Fault") && file != "FaultTableTests.swift" {
      let source = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
      names += source.matches(of: /@Test\(\s*"([^"]+)"/).map { String($0.1) }
    }
    #expect(!rows.isEmpty)
    #expect(rows.filter { row in !names.contains { $0.hasPrefix(row) } } == [])
  }
}
