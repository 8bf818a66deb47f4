/// Somebody in a room, who is told what is said there.
protocol RoomMember: AnyObject, Sendable {
  /// Who it is, for statistics.
  var id: Int { get }
  /// Where it wants to be told; `nil` for anywhere.
  var executor: (any TaskExecutor)? { get }

  /// Takes a message, and waits for as long as the member cannot take more; called on ``executor``.
  func receive(_ message: Message) async throws

  /// Takes a message without waiting, or loses it.
  ///
  /// For those who cannot wait.
  func receiveNow(_ message: Message)
}
