/// What users and rooms may be called.
///
/// Only ASCII: a name that looks like another one, by letters of another alphabet or by characters without a
/// width, could pass for it. The standard library has no compatibility normalization to compare by.
enum Names {
  static let longest = 32

  /// A user's name.
  ///
  /// - Throws: a refusal if it is none.
  static func user(_ name: String) throws(Refusal) -> String {
    guard isSafe(name) else {
      throw Refusal(
        "\"\(name.prefix(longest).harmless)\" is no name: "
          + "use at most \(longest) letters from a to z, digits, \"-\", \"_\" and \".\"")
    }
    return name
  }

  /// A room's name, in lower case: "Staff" is the room "staff".
  ///
  /// - Throws: a refusal if it is none.
  static func room(_ name: String) throws(Refusal) -> String {
    try user(name).lowercased()
  }

  private static func isSafe(_ name: String) -> Bool {
    (1...longest).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        }
      }
  }
}
