/// What a client asks for by a line.
enum Command: Equatable {
  case name(String)
  case join(String)
  case leave(String)
  case say(room: String, text: String)
  case help
  case quit
  /// None of these; what to say to it.
  case malformed(String)

  static let list = "name NAME, join ROOM, say ROOM TEXT, leave ROOM, quit"

  init(_ line: String) {
    // What a terminal would obey is left out.
    let line = String(String.UnicodeScalarView(line.unicodeScalars.filter(Self.isHarmless)))
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
    let text = words.count == 3 ? String(words[2]) : ""
    switch (words.first, words.count) {
    case ("name", 2): self = Self.word(words[1]).map(Command.name) ?? .malformed(Self.wrongWord)
    case ("join", 2): self = Self.word(words[1]).map(Command.join) ?? .malformed(Self.wrongWord)
    case ("leave", 2): self = Self.word(words[1]).map(Command.leave) ?? .malformed(Self.wrongWord)
    case ("say", 3): self = .say(room: String(words[1]), text: text)
    case ("help", 1): self = .help
    case ("quit", 1): self = .quit
    default: self = .malformed("that is no command; there are: \(Self.list)")
    }
  }

  private static let wrongWord = "a name has 1 to 32 letters, digits, - and _"

  private static func word(_ word: Substring) -> String? {
    let isWord = word.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    // A character may have any number of scalars.
    return isWord && word.count <= 32 && word.utf8.count <= 128 ? String(word) : nil
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
    default: true
    }
  }
}
