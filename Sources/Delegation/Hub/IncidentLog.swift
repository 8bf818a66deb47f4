/// Limits the lines about incidents on standard error to 20 a second, for all hubs of the program.
///
/// A second begins with its first line. Incidents beyond the limit are counted, and one line has their number when
/// the second is over.
///
/// Invariant: while `lines` is above zero, a clock runs that ends the second.
struct IncidentLog: Sendable {
  static let mostLines = 20

  private var lines = 0
  private var leftOut = 0

  /// Takes an incident.
  ///
  /// - Parameter count: how many incidents it stands for.
  /// - Returns: whether its line is to be written, and whether a second begins with it.
  mutating func add(_ count: Int) -> (isWritten: Bool, beginsSecond: Bool) {
    guard lines < Self.mostLines else {
      leftOut += count
      return (false, false)
    }
    lines += 1
    return (true, lines == 1)
  }

  /// Ends the second.
  ///
  /// - Returns: how many incidents were left out in it.
  mutating func endSecond() -> Int {
    defer { self = IncidentLog() }
    return leftOut
  }
}

extension DelegateHub.Incident {
  private static let log = Lock(IncidentLog())

  /// Writes the incident to standard error as one line, as a hub does by default.
  ///
  /// It writes at most 20 lines a second, then how many more incidents there were. What is left when the program
  /// ends is not written.
  ///
  /// **Isolation.** Works from any thread, for the incidents of all hubs.
  ///
  /// - Complexity: O(1).
  public func writeToStandardError() {
    let (isWritten, beginsSecond) = Self.log.withLock { $0.add(1 + leftOut) }
    if isWritten { Platform.writeToStandardError("DelegateHub: \(self)\n") }
    guard beginsSecond else { return }
    Task.detached {
      // Nobody cancels this task.
      try? await Task.sleep(for: .seconds(1))
      let count = Self.log.withLock { $0.endSecond() }
      if count > 0 { Platform.writeToStandardError("DelegateHub: and \(count) more incidents\n") }
    }
  }
}
