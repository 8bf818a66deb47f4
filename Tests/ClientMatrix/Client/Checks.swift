import DelegationTesting

/// What was checked, and what did not hold.
nonisolated enum Checks {
  private static let passed = Recorder<Void>()
  private static let failures = Recorder<String>()

  static func expect(
    _ condition: Bool, _ what: @autoclosure () -> String, line: UInt = #line,
    file: StaticString = #fileID
  ) {
    if condition { passed.record(()) } else { failures.record("\(file):\(line): \(what())") }
  }

  static func expect<Value: Equatable>(
    _ value: Value, is expected: Value, line: UInt = #line, file: StaticString = #fileID
  ) {
    expect(value == expected, "\(value), expected was \(expected)", line: line, file: file)
  }

  static var count: Int { passed.count }
  static var messages: [String] { failures.events }
}

/// Which method of a subscriber ran, and where.
nonisolated struct Visit: Hashable, Sendable, CustomStringConvertible {
  let method: String
  let place: Place

  init(_ method: String, _ place: Place) {
    self.method = method
    self.place = place
  }

  var description: String { "\(method) on \(place.rawValue)" }
}

/// Records where a subscriber's methods run.
nonisolated final class Log: Sendable {
  private let visits = Recorder<Visit>()

  func note(_ method: String) {
    visits.record(Visit(method, Place.current))
  }

  /// Checks what was recorded since the last time.
  ///
  /// - Parameters:
  ///   - expected: the methods in their order, each with its place.
  ///   - line: the line that checks.
  ///   - file: its file.
  func expect(_ expected: Visit..., line: UInt = #line, file: StaticString = #fileID) {
    Checks.expect(visits.clear(), is: expected, line: line, file: file)
  }

  /// Checks that each method was recorded once since the last time, all in one place.
  ///
  /// - Parameters:
  ///   - methods: the methods, in their order.
  ///   - place: where they have to have run.
  ///   - line: the line that checks.
  ///   - file: its file.
  func expect(
    _ methods: String..., at place: Place, line: UInt = #line, file: StaticString = #fileID
  ) {
    Checks.expect(visits.clear(), is: methods.map { Visit($0, place) }, line: line, file: file)
  }
}
