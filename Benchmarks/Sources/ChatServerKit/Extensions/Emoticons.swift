/// Makes pictures of punctuation.
final class Emoticons: ServerExtension, MessageRewriter {
  let name = "emoticons"
  let options = ExtensionOptions()
  private let pictures = [(":-)", "🙂"), (":-(", "🙁"), ("<3", "❤️")]

  func rewrite(_ text: String, of draft: Draft) async -> String? {
    // Most texts have none, and need no new string.
    guard text.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "<") }) else {
      return text
    }
    return pictures.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }
}
