/// Objects to words that are not welcome.
final class Moderator: ServerExtension, MessageGate {
  let name = "moderator"
  private let unwelcome: Set<String>

  init(unwelcome: Set<String> = ["spam", "scam"]) {
    self.unwelcome = unwelcome
  }

  func verdict(on draft: Draft) -> Verdict {
    for word in draft.text.split(whereSeparator: { !$0.isLetter }) {
      let word = word.lowercased()
      if unwelcome.contains(word) { return .objects(because: "\"\(word)\" is not welcome here") }
    }
    return .agrees
  }
}
