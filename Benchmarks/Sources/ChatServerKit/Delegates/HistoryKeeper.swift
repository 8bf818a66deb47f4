/// Somebody who may remember what was said.
///
/// They are asked one after another until one does. If that takes too long, nobody does.
protocol HistoryKeeper: AnyObject, Sendable {
  /// The last messages of a room; `nil` if this one does not remember.
  func recent(_ count: Int, in room: String) async -> [Message]?
}
