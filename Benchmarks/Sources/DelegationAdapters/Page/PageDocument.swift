import NIOCore

/// The page: one document that asks for nothing but its events.
///
/// Its parts are files beside this one, compiled into the program. Each answer has a number of its own, and
/// the browser runs and applies only what carries it: nothing that is written into the page later.
struct PageDocument: Sendable {
  private let text: String
  private static let mark = "{{nonce}}"

  init() {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    self.text = Self.replacing(
      "{{script}}", with: text(PackageResources.page_js),
      in: Self.replacing(
        "{{style}}", with: text(PackageResources.page_css), in: text(PackageResources.page_html)))
  }

  /// The document, and the header that says what it may do.
  func rendered() -> (text: ByteBuffer, policy: (String, String)) {
    let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    let policy = """
      default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; \
      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
      """
    let text = Self.replacing(Self.mark, with: nonce, in: text)
    return (ByteBuffer(string: text), ("Content-Security-Policy", policy))
  }

  private static func replacing(_ mark: String, with text: String, in template: String) -> String {
    var rest = template[...]
    var result = ""
    while let range = rest.firstRange(of: mark) {
      result += rest[..<range.lowerBound] + text
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
