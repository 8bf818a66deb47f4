/// Words that a moderator does not want to read.
struct WordList: Sendable {
  /// The words of a file that are none.
  struct Malformed: Error {
    let text: String
  }

  static let builtIn = WordList(words: ["spam", "scam", "casino", "lottery", "darn", "heck"])

  private let words: Set<String>

  var count: Int { words.count }
  var sorted: [String] { words.sorted() }

  private init(words: Set<String>) {
    self.words = words
  }

  /// Reads a list: words with white space between them, and comments from a `#` to the line's end.
  init(parsing text: String) throws(Malformed) {
    var words: Set<String> = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let listed = line.prefix { $0 != "#" }
      for word in listed.split(whereSeparator: { $0.isWhitespace || $0 == "\u{FEFF}" }) {
        // It would be looked for and never found.
        guard word.allSatisfy(Self.isPartOfWord) else {
          throw Malformed(
            text: "line \(index + 1): \(String(word).harmless.quoted) is not a word: "
              + "a word has only letters and digits")
        }
        words.insert(word.lowercased())
      }
    }
    self.words = words
  }

  /// The first word of a text that is on the list.
  func first(in text: String) -> String? {
    text.visible.split(whereSeparator: { !Self.isPartOfWord($0) })
      .lazy.map { $0.lowercased() }.first(where: words.contains)
  }

  private static func isPartOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber
  }
}
