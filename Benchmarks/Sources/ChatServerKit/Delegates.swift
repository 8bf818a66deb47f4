/// What somebody says in a room.
package struct Message: Sendable, Equatable {
  /// The room.
  package let room: String
  /// Who says it.
  package let name: String
  /// What is said: one line without control characters.
  package let text: String

  /// As it is told and written down.
  package var line: String { "\(room) \(name): \(text)" }
}

/// Decides who may join a room.
package protocol JoinGate: AnyObject, Sendable {
  func mayJoin(_ room: String, as name: String) async throws -> Bool
}

/// Decides what may be said.
package protocol SpeechGate: AnyObject, Sendable {
  func maySay(_ message: Message) async throws -> Bool
}

/// Writes down what happens, before anybody hears of it.
package protocol AuditLog: AnyObject, Sendable {
  func write(_ line: String) async throws
}

/// Hears what happens in the rooms that it has joined.
package protocol RoomMember: AnyObject, Sendable {
  func hear(_ line: String) async throws
  /// Where it hears; `nil` for anywhere.
  var executor: (any TaskExecutor)? { get }
  /// Is called if it has taken too long to hear a line.
  func giveUp()
}

/// What is loaded and unloaded while people talk: a ``JoinGate``, a ``SpeechGate``, or both.
package protocol ChatExtension: AnyObject, Sendable {
  /// Is called when no call reaches it any more.
  func wasUnloaded()
}

extension ChatExtension {
  /// Does nothing.
  package func wasUnloaded() {}
}
