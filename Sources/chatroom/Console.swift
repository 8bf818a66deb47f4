/// Standard output, until nobody reads it any more.
///
/// On the main actor, as reading is: a reader that is slow to take our output holds up the main thread
/// and none of those that handlers run on.
@MainActor
final class Console {
  /// Why the last write failed, after which nothing is written any more.
  private(set) var failure: System.Failure?

  /// Writes some text, and says whether there is somebody to write for.
  @discardableResult
  func write(_ text: String) -> Bool {
    guard failure == nil else { return false }
    do throws(System.Failure) {
      try System.write(text, to: .output)
    } catch {
      failure = error
    }
    return failure == nil
  }

  /// Writes to standard error, whose loss is nobody's loss.
  func writeError(_ text: String) {
    try? System.write(text, to: .error)
  }
}
