extension StringProtocol {
  /// Without the white space at both ends.
  var trimmed: SubSequence {
    var rest = self[...]
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return rest
  }

  /// With a sign in place of every control character, and without invisible characters and those that change the
  /// direction of writing: a message must not be able to clear other screens, nor look like something else.
  var harmless: String {
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars where !scalar.isUnseen {
      let isControl = scalar.properties.generalCategory == .control
      scalars.append(scalar == "\t" ? " " : isControl ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  /// Without invisible characters, for comparisons.
  var visible: String {
    var scalars = String.UnicodeScalarView()
    scalars += unicodeScalars.lazy.filter { !$0.properties.isDefaultIgnorableCodePoint }
    return String(scalars)
  }

  /// In quotation marks, and cut to a length that an answer can quote.
  var quoted: String {
    var shown = String.UnicodeScalarView()
    var size = 0
    // A character may have any number of combining marks, so the bytes count as well.
    for scalar in prefix(40).unicodeScalars {
      size += UTF8.width(scalar)
      if size > 160 { break }
      shown.append(scalar)
    }
    return size == utf8.count ? "\"\(shown)\"" : "\"\(shown)...\""
  }
}

extension Unicode.Scalar {
  /// Whether it shows only by its effect on others; not joiners and tags, which pictures and some scripts need.
  fileprivate var isUnseen: Bool {
    properties.generalCategory == .format && properties.isDefaultIgnorableCodePoint
      && value < 0xE0000 && !(0x200C...0x200D).contains(value)
  }
}

extension Int {
  /// With commas between the thousands.
  var grouped: String {
    var result = ""
    let digits = String(magnitude)
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { result += "," }
      result.append(digit)
    }
    return self < 0 ? "-" + result : result
  }

  /// "1 message", "2 messages".
  func of(_ noun: String) -> String {
    self == 1 ? "1 \(noun)" : "\(grouped) \(noun)s"
  }
}

extension Duration {
  /// In seconds, to the millisecond, as "10 s" or "0.25 s".
  var inSeconds: String {
    let milliseconds = Int(self / .milliseconds(1))
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    guard rest > 0 else { return "\(whole.grouped) s" }
    var decimals = String(String(1000 + rest).dropFirst())
    while decimals.last == "0" { decimals.removeLast() }
    return "\(whole.grouped).\(decimals) s"
  }
}

extension [String: Int] {
  /// The greatest first, as "ann 3, bob 1"; among equals by name.
  func ranked(first limit: Int = .max) -> String {
    let ranked = sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let named = ranked.prefix(limit).map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
    return ranked.count > limit ? "\(named) and \((ranked.count - limit).grouped) more" : named
  }
}
