/// What a mailbox does if its policy has a limit.
extension Mailbox {
  /// Changes the policy.
  ///
  /// - Parameter policy: the new one; it applies to pending notifications once they have been stored.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy) {
    if backlog.isEmpty {
      if policy == .unbounded { return }
      backlog = [Backlog(policy: policy, after: position - 1)]
    } else {
      backlog[0].setPolicy(policy)
    }
  }

  /// Under a policy with a limit, moves what was posted from the chain into the mailbox, passes it over or drops it.
  ///
  /// It stops at a notification for those that conform to a further protocol as long as it is not known whether the
  /// subscriber does; see ``doubt``.
  ///
  /// - Parameters:
  ///   - published: as with ``attend(published:)``.
  ///   - most: how many to move at most.
  /// - Returns: whether everything up to `published` has been moved.
  @discardableResult
  mutating func store(upTo published: Int, atMost most: Int = .max) -> Bool {
    guard termination == nil, !backlog.isEmpty, backlog[0].policy.limit != nil,
      !flags.contains(.awaitingHandOver)
    else { return true }
    let count = min(max(0, published - position), most)
    for _ in 0..<count {
      guard let content = next?.content else { return true }
      backlog[0].add(content, number: position)
      _ = takeFromChain()
    }
    return position >= published
  }

  /// Takes out what was dropped or passed over, for the caller to release outside the lock.
  mutating func takeOverflow() -> [Notification.Content] {
    backlog.isEmpty ? [] : backlog[0].takeOverflow()
  }

  /// How many were dropped since the last report, if the mailbox has begun to drop; otherwise 0.
  mutating func takeUnreportedDrops() -> Int {
    backlog.isEmpty ? 0 : backlog[0].takeUnreportedDrops()
  }
}

/// One mailbox takes the place of another.
///
/// A subscription that takes over an id takes over the pending notifications. An object that subscribes
/// again while a handler of its former subscription runs is held until that handler has returned.
extension Mailbox {
  /// Takes over the pending notifications of the predecessor, which ends by that.
  ///
  /// Among them is the one that was taken, if its handler has not begun.
  mutating func takeOver(from former: inout Mailbox) {
    flags.remove(.awaitingHandOver)
    if former.flags.remove(.poised) != nil {
      former.flags.remove(.handling)
      former.backlog[0].putBack()
    }
    (next, position) = (former.next.take(), former.position)
    start = position - former.storedCount
    former.start += former.storedCount
    former.termination = .succeeded
    guard !former.backlog.isEmpty else { return }
    if backlog.isEmpty { backlog = [Backlog(policy: .unbounded)] }
    backlog[0].takeOver(from: &former.backlog[0])
  }

  /// Keeps the notification that was taken, as its handler is deferred, until that begins.
  ///
  /// Not in `take`: to look at each handler there would cost each delivery 70 instructions. If the mailbox has been
  /// taken over meanwhile, the handler counts as begun.
  mutating func poise(_ content: Notification.Content) {
    if hasEnded { return }
    flags.insert(.poised)
    if backlog.isEmpty { backlog = [Backlog(policy: .unbounded, after: position - 1)] }
    backlog[0].poised = content
  }

  /// Notes that the handler of the notification that was taken begins, or will not.
  ///
  /// The caller keeps the notification: its last reference is not to be released under the lock.
  ///
  /// - Returns: whether the notification was not taken over.
  mutating func settle() -> Bool {
    if flags.remove(.poised) != nil { backlog[0].poised = nil }
    return isHandling
  }

  /// Whether notifications were addressed to a subscriber that has died.
  ///
  /// One that is being handled reaches nobody any more, or has been noted to be heard.
  func hasMissed(_ published: Int) -> Bool {
    isHandling || account(published: published).expired > 0
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
