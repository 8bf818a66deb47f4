/// The program's standard error.
enum StandardError {
  /// Writes a text as one line with one call, so that lines of several threads do not mix.
  static func write(line: String) {
    let text = line.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
    Platform.writeToStandardError(Array(text.utf8))
  }
}
