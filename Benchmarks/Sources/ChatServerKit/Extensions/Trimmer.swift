/// Takes away spaces at both ends, and the message if nothing else is left.
final class Trimmer: ServerExtension, MessageRewriter {
  let name = "trimmer"
  let options = ExtensionOptions(priority: 10)

  func rewrite(_ text: String, of draft: Draft) async -> String? {
    var text = text[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    text = text.drop(while: \.isWhitespace)
    return text.isEmpty ? nil : String(text)
  }
}
