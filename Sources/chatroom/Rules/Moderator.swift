/// Vetoes messages with unwelcome words in them, in upper or lower case.
final class Moderator: RoomRule {
  private static let words: Set = ["spam", "scam", "casino", "lottery", "darn", "heck"]

  let name = "moderator"
  var detail: String { Self.words.count.of("unwelcome word") }

  func room(_ room: Room, mayDeliver message: Message) -> Verdict {
    let words = message.text.visible.split { !$0.isLetter && !$0.isNumber }
    guard let word = words.lazy.map({ $0.lowercased() }).first(where: Self.words.contains) else {
      return .agree
    }
    return .veto(because: "\(word.quoted) is not welcome here")
  }
}
