/// What happened in a schedule, event by event.
struct History: Sendable {
  enum Kind: UInt8, Sendable {
    case choice, begins, returns, starts, ends, throwsError, hangs, isReleased, dies, quiescence
  }

  struct Event: Sendable {
    let kind: Kind
    /// A task or a call.
    let first: Int
    /// A subscriber.
    let second: Int
  }

  private(set) var events: [Event] = []
  /// A fingerprint of all the events.
  private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func note(_ kind: Kind, _ first: Int = 0, _ second: Int = 0) {
    events.append(Event(kind: kind, first: first, second: second))
    let word =
      UInt64(kind.rawValue) << 48 | UInt64(truncatingIfNeeded: first) << 16
      | UInt64(truncatingIfNeeded: second)
    hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 29
  }

  /// The events as lines.
  ///
  /// - Parameter call: describes a call.
  /// - Returns: the lines.
  func lines(naming call: (Int) -> String) -> String {
    events.map { event in
      let handler = "    subscriber \(event.second)'s handler of #\(event.first)"
      return switch event.kind {
      case .choice: "  task \(event.first)"
      case .begins: "    \(call(event.first)) is called"
      case .returns: "    \(call(event.first)) returns"
      case .starts: "\(handler) starts"
      case .ends: "\(handler) returns"
      case .throwsError: "\(handler) throws"
      case .hangs: "\(handler) hangs"
      case .isReleased: "\(handler) is released"
      case .dies: "    subscriber \(event.second) dies"
      case .quiescence: "  nothing is left to run: a hanging handler is released or time passes"
      }
    }.joined(separator: "\n")
  }
}
