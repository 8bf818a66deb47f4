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
    guard termination == nil, !backlog.isEmpty, backlog[0].policy.limit != nil else {
      return true
    }
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
extension Mailbox {
  /// Takes over the pending notifications of another mailbox, which ends by that.
  mutating func takeOver(from former: inout Mailbox) {
    (next, position) = (former.next.take(), former.position)
    start = position - former.storedCount
    former.start += former.storedCount
    former.termination = .cancelled
    guard !former.backlog.isEmpty else { return }
    if backlog.isEmpty { backlog = [Backlog(policy: .unbounded)] }
    backlog[0].takeOver(from: &former.backlog[0])
  }

  /// Whether notifications were addressed to a subscriber that has died.
  ///
  /// One that is being handled reaches nobody any more, or has been noted to be heard.
  func hasMissed(_ published: Int) -> Bool {
    isHandling || account(published: published).expired > 0
  }
}
