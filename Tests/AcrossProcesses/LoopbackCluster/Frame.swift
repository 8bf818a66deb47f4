import Foundation

/// What goes over a connection.
enum Frame: Codable, Sendable {
  /// A question or a message to an actor.
  struct Call: Codable, Sendable {
    var number: UInt64
    var recipient: LoopbackID
    var target: String
    var substitutions: [String]
    var arguments: [Data]
  }

  /// What became of a call.
  enum Outcome: Codable, Sendable {
    case value(Data)
    case void
    case unknownActor
    case thrown(String)
  }

  case call(Call)
  case reply(number: UInt64, Outcome)
}

extension Frame {
  /// The frame as it is sent: its length, and itself as JSON.
  func encoded() throws -> Data {
    let body = try JSONEncoder().encode(self)
    return withUnsafeBytes(of: UInt32(body.count).bigEndian) { Data($0) } + body
  }

  /// Reads the next frame; `nil` at the end.
  static func read(from socket: borrowing Socket) throws -> Frame? {
    guard let head = try socket.read(4) else { return nil }
    let length = head.reduce(0) { $0 << 8 | Int($1) }
    guard let body = try socket.read(length) else { throw LoopbackError.malformed }
    return try JSONDecoder().decode(Frame.self, from: body)
  }
}
