/// What a mailbox does if its policy has a limit.
extension Mailbox {
  /// Changes the policy.
  ///
  /// - Parameter policy: the new one; it applies to pending notifications once they have been stored.
  mutating func setPolicy(_ policy: DelegateHub.MailboxPolicy) {
    if backlog.isEmpty {
      if policy == .unbounded { return }
      backlog = [Backlog(policy: policy)]
      backlog[0].latest = position - 1
    } else {
      backlog[0].setPolicy(policy)
    }
  }

  /// Under a policy with a limit, moves what was posted from the chain into the mailbox or drops it.
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
      let number = position
      guard let content = takeFromChain() else { return true }
      backlog[0].add(content, number: number)
    }
    return position >= published
  }

  /// Takes out what was dropped, for the caller to release outside the lock.
  mutating func takeOverflow() -> [Notification.Content] {
    backlog.isEmpty ? [] : backlog[0].takeOverflow()
  }

  /// How many were dropped since the last report, if the mailbox has begun to drop; otherwise 0.
  mutating func takeUnreportedDrops() -> Int {
    backlog.isEmpty ? 0 : backlog[0].takeUnreportedDrops()
  }
}
