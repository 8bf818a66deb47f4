/// Objects to words that are not welcome.
final class Moderator: ServerExtension, MessageGate {
  let name = "moderator"
  let options = ExtensionOptions()
  private let unwelcome: Set<String>

  init(unwelcome: Set<String> = ["spam", "scam"]) {
    self.unwelcome = unwelcome
  }

  func verdict(on draft: Draft) -> Verdict {
    let words = draft.text.skeleton.split(whereSeparator: { !$0.isLetter }).lazy.map(String.init)
    guard let word = words.first(where: unwelcome.contains) else { return .agrees }
    return .objects(because: "\"\(word)\" is not welcome here")
  }
}
