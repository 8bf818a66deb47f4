/// The members of one room, as an engine holds them.
protocol Audience: Sendable {
  func add(_ member: any RoomMember)
  func remove(_ member: any RoomMember)
  /// Tells all members and waits for none. All are told in the order of the calls.
  func post(_ message: Message)
  /// Waits until the members have taken what was posted, if that is what holds those back who post.
  func settle() async
  /// Gives back what is held for the members, after the last one has been removed.
  func close()
}

extension Audience {
  func settle() async {}
  func close() {}
}
