/// What is to be shown: lines, each with a word before it that says what it is.
struct Page: Sendable {
  enum Label: String {
    case delivered, vetoed, room, error, last, stats, rules, help, summary
  }

  private(set) var text = ""

  mutating func add(_ label: Label, _ line: String) {
    let padding = String(repeating: " ", count: 11 - label.rawValue.count)
    text += label.rawValue + padding + line + "\n"
  }

  mutating func add(_ label: Label, _ lines: [String]) {
    for line in lines { add(label, line) }
  }
}
