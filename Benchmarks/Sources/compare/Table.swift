import Foundation

/// What is printed: a line for each result, as soon as it is known, at most 100 columns wide.
struct Table {
  private static let peers = Peer.allCases.filter { $0 != .hub }

  func begin() {
    Self.say(
      """
      How long it takes the hub, and how many times as long it takes what people use in its place.
      loop: over weak references, behind a mutex or an actor; one that is slow holds up the rest.
      tasks: one for each delivery, a task group for each question. queues: one for each delegate.

      """)
    let names = ["loop", "NotifCenter", "AsyncStream", "tasks", "queues"]
    Self.say(
      Self.left("", 31) + Self.right("among", 6) + Self.right("the hub", 9)
        + names.map { Self.right($0, $0.count > 6 ? 12 : 9) }.joined())
  }

  func show(_ result: Result) {
    var line = Self.left(result.row, 31) + Self.right("\(result.size)", 6)
    line += Self.right(Self.text(result.figures[.hub] ?? .nan, result.unit), 9)
    for peer in Self.peers {
      let width = peer == .center || peer == .stream ? 12 : 9
      line += Self.right(result.ratios[peer].map(Self.ratio) ?? "", width)
    }
    Self.say(line)
  }

  func end(after duration: Duration) {
    var load = [0.0, 0.0, 0.0]
    getloadavg(&load, 3)
    Self.say(
      "\nMedians; \(Int(duration / .seconds(1))) s; load \(Self.digits(load[0])) at the end: "
        + (load[0] < 2.5 ? "quiet." : "busy, look at ratios only."))
  }

  /// At once, also into a pipe.
  static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  /// With three digits, and the unit that suits.
  static func text(_ value: Double, _ unit: Result.Unit) -> String {
    if unit == .callers { return ratio(value) }
    let names = unit == .bytes ? ["B", "kB", "MB"] : ["ns", "µs", "ms"]
    var (value, index) = (value, 0)
    while value >= 999.5, index < 2 { (value, index) = (value / 1000, index + 1) }
    return "\(digits(value)) \(names[index])"
  }

  static func ratio(_ value: Double) -> String { digits(value) + " x" }

  /// With two digits, or as many as there are before the point.
  static func digits(_ value: Double) -> String {
    if !value.isFinite { return "-" }
    return String(format: value < 0.095 ? "%.2f" : value < 9.95 ? "%.1f" : "%.0f", value)
  }

  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
