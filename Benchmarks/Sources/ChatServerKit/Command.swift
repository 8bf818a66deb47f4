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
    // Some clients end a line with `\r\n`, which is one character.
    let words = line.drop { $0 == " " }.split(maxSplits: 2) { $0 == " " || $0 == "\r" }
    let word = words.count > 1 ? Self.word(words[1]) : nil
    let wrong = Command.malformed("a name has 1 to 32 letters, digits, - and _")
    switch (words.first, words.count) {
    case ("name", 2): self = word.map(Command.name) ?? wrong
    case ("join", 2): self = word.map(Command.join) ?? wrong
    case ("leave", 2): self = word.map(Command.leave) ?? wrong
    case ("say", 3):
      // What a terminal would obey is left out.
      let text = String(String.UnicodeScalarView(words[2].unicodeScalars.filter(Self.isHarmless)))
      let isSeen = text.unicodeScalars.contains(where: Self.isSeen)
      let unseen = Command.malformed("there is nothing to be seen")
      self = word.map { isSeen ? .say(room: $0, text: text) : unseen } ?? wrong
    case ("help", 1): self = .help
    case ("quit", 1): self = .quit
    default: self = .malformed("that is no command; there are: \(Self.list)")
    }
  }

  private static func word(_ word: Substring) -> String? {
    // Not characters: one may have any number of scalars.
    let scalars = word.unicodeScalars
    let isWord = scalars.allSatisfy { isSeen($0) && (isLetter($0) || isMark($0)) }
    return isWord && scalars.count <= 32 && !isMark(scalars[scalars.startIndex])
      ? String(word) : nil
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      true
    default: scalar == "-" || scalar == "_"
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
  }

  /// Not so what fills a place and shows nothing, which in some scripts is a letter.
  private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return !properties.isDefaultIgnorableCodePoint && !properties.isWhitespace
      && !["BLANK", "FILLER", "JOINER"].contains { properties.name?.contains($0) == true }
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
    default: true
    }
  }
}
