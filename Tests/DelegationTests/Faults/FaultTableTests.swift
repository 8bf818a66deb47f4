import Foundation
import Testing

@Suite("Faults: the documentation's list", .inTurn)
struct FaultTableTests {
  @Test("each fault has a test whose name begins with it")
  func rowsAreTests() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let sources = tests.appending(path: "../../../Sources/Delegation/Delegation.docc/Faults.md")
    let article = try String(contentsOf: sources, encoding: .utf8)
    let list = try #require(article.firstMatch(of: /### What happens at which fault\?(?s).*?\n###/))
      .0
    // Without the links.
    let text = String(list).replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }
    let rows = text.matches(of: /(?m)^- \*\*(.+?)\.\*\*/).map { String($0.1) }
    var names: [String] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: tests.path)
    where file.hasPrefix("Fault") && file != "FaultTableTests.swift" {
      let source = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
      names += source.matches(of: /@Test\(\s*"([^"]+)"/).map { String($0.1) }
    }
    #expect(rows.count >= 5)
    #expect(rows.filter { row in !names.contains { $0.hasPrefix(row) } } == [])
  }
}
