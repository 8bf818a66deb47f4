extension StringProtocol {
  /// With a sign in place of every control character and of every end of a line, and spaces for tabs.
  ///
  /// Others get lines with it in them: it must neither begin a line of its own nor move their cursors.
  var harmless: String {
    // Most texts have none, and need no second look. C1 controls begin with C2, U+2028 and U+2029 with E2.
    guard utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else {
      return String(self)
    }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control: scalars.append(scalar == "\t" ? " " : "\u{FFFD}")
      case .lineSeparator, .paragraphSeparator: scalars.append("\u{FFFD}")
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// What texts are compared by: without characters that nobody sees, and whether in capitals or not.
  var skeleton: String {
    var scalars = String.UnicodeScalarView()
    scalars += unicodeScalars.lazy.filter { !$0.properties.isDefaultIgnorableCodePoint }
    // By way of capitals, for some letters have no other form than a small one: "ſ" is an "s".
    return String(scalars).uppercased().lowercased()
  }
}
