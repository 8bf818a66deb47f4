/// Vetoes messages with words from a list in them, in upper or lower case.
final class Moderator: RoomRule {
  let name = "moderator"
  var detail: String { words.count.of("unwelcome word") }

  private let words: WordList

  init(_ words: WordList) {
    self.words = words
  }

  func room(_ room: Room, mayDeliver message: Message) -> Verdict {
    guard let word = words.first(in: message.text) else { return .agree }
    return .veto(because: "\(word.quoted) is not welcome here")
  }
}
