/// The members of one room, as an engine holds them.
protocol Audience: Sendable {
  func add(_ member: any RoomMember)
  func remove(_ member: any RoomMember)
  /// Tells all members and waits for none. All are told in the order of the calls.
  func post(_ message: Message)
}
