/// One mailbox takes the place of another.
///
/// A subscription that takes over an id takes over the pending notifications. An object that subscribes
/// again while a handler of its former subscription runs is held until that handler has returned.
///
/// The successor begins shut. So the two mailboxes need no common lock: notifications are handed over
/// while both are posted to and attended.
extension Mailbox {
  /// The pending notifications of a subscription, on the way to its successor.
  struct HandOver: Sendable {
    fileprivate var backlog: [Backlog]
    fileprivate var next: Notification?
    fileprivate var position: Int
  }

  /// What becomes of notifications that were handed over.
  enum TakeOverResult: Sendable {
    /// They are pending in this mailbox; `needsWorker` says whether a worker has to be requested.
    case kept(needsWorker: Bool)
    /// This subscription was terminated, and they are to be discarded.
    case discarded(PendingNotifications)
    /// This subscription has a successor by now, which is to have them.
    case forwarded(HandOver)
  }

  /// Terminates this mailbox, and hands the pending notifications over to a successor.
  ///
  /// - Returns: the notifications; `nil` if this mailbox itself awaits some, which it will forward.
  mutating func handOver() -> HandOver? {
    guard termination == nil else { return nil }
    termination = .cancelled
    defer { next = nil }
    if flags.contains(.awaitingHandOver) {
      flags.insert(.forwarding)
      return nil
    }
    start += storedCount
    var stored: [Backlog] = []
    if !backlog.isEmpty {
      stored = [Backlog(policy: .unbounded)]
      stored[0].takeOver(from: &backlog[0])
    }
    return HandOver(backlog: stored, next: next, position: position)
  }

  /// Takes over the pending notifications of the predecessor.
  ///
  /// - Parameters:
  ///   - handedOver: the notifications.
  ///   - published: as with ``attend(published:)``.
  /// - Returns: what comes of it.
  mutating func takeOver(_ handedOver: HandOver, published: Int?) -> TakeOverResult {
    flags.remove(.awaitingHandOver)
    if flags.remove(.forwarding) != nil { return .forwarded(handedOver) }
    let length = position - handedOver.position
    start -= length + (handedOver.backlog.first?.count ?? 0)
    if termination != nil {
      var pending = PendingNotifications(
        chain: handedOver.next, first: handedOver.position, length: length)
      if var backlog = handedOver.backlog.first { pending.stored = backlog.takeAll() }
      return .discarded(pending)
    }
    next = handedOver.next
    position = handedOver.position
    if var former = handedOver.backlog.first {
      if backlog.isEmpty { backlog = [Backlog(policy: .unbounded)] }
      backlog[0].takeOver(from: &former)
    }
    return .kept(needsWorker: needsWorker(published))
  }

  /// Opens a mailbox that was held.
  ///
  /// - Parameter published: as with ``attend(published:)``.
  /// - Returns: whether a worker has to be requested.
  mutating func open(published: Int?) -> Bool {
    flags.remove(.held)
    return needsWorker(published)
  }

  private func needsWorker(_ published: Int?) -> Bool {
    guard let published, termination == nil, flags.isDisjoint(with: .shut) else { return false }
    return hasMore(published)
  }
}
