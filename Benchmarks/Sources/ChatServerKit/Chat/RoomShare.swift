/// How many bytes may be kept for a room, if there are so many for all rooms.
///
/// The more rooms there are, the less there is for each. One that was filled when there were fewer keeps more than its
/// share until something happens in it. So with n rooms all of them keep at most `all * (1 + log(n * each / all))`
/// bytes, and `n * each` as long as that is less than `all`.
struct RoomShare: Sendable {
  let each: Int
  let all: Int

  /// How many bytes a room may keep.
  ///
  /// - Parameter rooms: how many rooms there are.
  /// - Returns: the number.
  func bytes(with rooms: Int) -> Int { min(each, all / max(rooms, 1)) }
}
