extension StringProtocol {
  /// With a sign in place of every control character and of every end of a line, and spaces for tabs; without what
  /// turns the direction of writing around, and without spaces that nobody sees.
  ///
  /// Others get lines with it in them: it must neither begin a line of its own nor move their cursors, nor look like
  /// another text.
  var harmless: String {
    // Most texts have none, and need no second look. C1 controls begin with C2, the others with D8, E2 or EF.
    guard
      utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || [0xC2, 0xD8, 0xE2, 0xEF].contains($0) })
    else {
      return String(self)
    }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control: scalars.append(scalar == "\t" ? " " : "\u{FFFD}")
      case .lineSeparator, .paragraphSeparator: scalars.append("\u{FFFD}")
      case .format where scalar.isUnseen: break
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

extension Unicode.Scalar {
  /// Whether it shows by nothing but the place of others; joiners and tags, which pictures and some scripts need, are not.
  fileprivate var isUnseen: Bool {
    properties.isDefaultIgnorableCodePoint && value < 0xE0000 && !(0x200C...0x200D).contains(value)
  }
}
