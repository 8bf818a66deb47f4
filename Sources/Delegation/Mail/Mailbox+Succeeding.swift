/// One mailbox takes the place of another.
///
/// A subscription that takes over an id takes over the pending notifications. An object that subscribes
/// again while a handler of its former subscription runs is held until that handler has returned.
extension Mailbox {
  /// Takes over the pending notifications of the predecessor, which ends by that.
  mutating func takeOver(from former: inout Mailbox) {
    flags.remove(.awaitingHandOver)
    (next, position) = (former.next.take(), former.position)
    start = position - former.storedCount
    former.start += former.storedCount
    former.termination = .succeeded
    guard !former.backlog.isEmpty else { return }
    if backlog.isEmpty { backlog = [Backlog(policy: .unbounded)] }
    backlog[0].takeOver(from: &former.backlog[0])
  }

  /// Leaves to the successor what this mailbox itself has yet to take over.
  mutating func stepAside() {
    flags.remove(.awaitingHandOver)
    termination = .succeeded
    next = nil
  }

  /// Notes that the handler of the notification that was taken waits for the main actor, and has not begun.
  ///
  /// If the mailbox has been taken over before, that handler counts as begun.
  mutating func poise() {
    if !hasEnded { flags.insert(.poised) }
  }

  /// Puts back the notification that was taken, if its handler has not begun, for a successor to handle.
  ///
  /// - Returns: whether it did: not if the handler has begun, or if nothing may be pending any more.
  mutating func giveBack(_ content: Notification.Content) -> Bool {
    guard flags.remove(.poised) != nil, !hasEnded, let number = handledNumber else { return false }
    flags.remove(.handling)
    if backlog.isEmpty { backlog = [Backlog(policy: .unbounded)] }
    backlog[0].putBack(content, number: number)
    return true
  }

  /// Whether a worker has to be requested for what is pending.
  ///
  /// - Parameter published: as with ``attend(published:)``.
  /// - Returns: whether one has to be.
  func needsWorker(_ published: Int?) -> Bool {
    guard let published, termination == nil, flags.isDisjoint(with: .shut) else { return false }
    return hasMore(published)
  }
}
