/// A text in JSON that is written from its beginning to its end, without a line break.
///
/// Commas are put by itself. What is open has to be closed by the one who opened it.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  /// Whether something stands before the next value on its level.
  private var needsComma = false

  /// A text of which no more than this is written: ids and errors have a `description` of any length.
  static let longestText = 300

  mutating func array(_ body: (inout JSONText) -> Void) {
    enclose(UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  mutating func object(_ body: (inout JSONText) -> Void) {
    enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  /// Writes a member's name; its value has to follow.
  mutating func name(_ name: StaticString) {
    separate()
    quote("\(name)")
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func number(_ value: Int) {
    separate()
    if value >= 0, value < 10 {
      // Most are.
      bytes.append(UInt8(ascii: "0") + UInt8(value))
    } else {
      bytes.append(contentsOf: String(value).utf8)
    }
  }

  mutating func text(_ value: String) {
    separate()
    quote(value)
  }

  /// Writes an array of numbers.
  mutating func numbers(_ values: some Sequence<Int>) {
    array { json in
      for value in values { json.number(value) }
    }
  }

  /// Writes values that have been written before, on a level of their own.
  mutating func append(_ values: JSONText) {
    guard !values.bytes.isEmpty else { return }
    separate()
    bytes.append(contentsOf: values.bytes)
  }

  private mutating func enclose(
    _ begin: UInt8, _ end: UInt8, _ body: (inout JSONText) -> Void
  ) {
    separate()
    bytes.append(begin)
    needsComma = false
    body(&self)
    bytes.append(end)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var scalars = 0
    for scalar in text.unicodeScalars {
      scalars += 1
      if scalars > Self.longestText {
        bytes.append(contentsOf: "…".utf8)
        break
      }
      switch scalar {
      case "\"", "\\":
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(UInt8(scalar.value))
      // Controls, and what turns the direction of writing around: a name shall not look like another.
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}",
        "\u{2066}"..."\u{2069}":
        bytes.append(contentsOf: "\u{FFFD}".utf8)
      default:
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
