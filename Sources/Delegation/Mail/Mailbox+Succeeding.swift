/// One mailbox in the place of another: who takes over an id takes over what waits, and an object that
/// subscribes anew while its former subscription's handler is running is held until that has returned.
///
/// The successor begins shut. So nothing needs a lock that two mailboxes share: what waits may go from
/// one to the other while both are posted to and worked on.
extension Mailbox {
  /// What waited for one subscription and is to be handled by its successor.
  struct HandOver: Sendable {
    fileprivate var backlog: [Backlog]
    fileprivate var next: Notification?
    fileprivate var position: Int
  }

  /// What comes of an handedOver.
  enum TakeOverResult: Sendable {
    /// It waits in this mailbox; a worker is to be asked for if `needsWorker`.
    case kept(needsWorker: Bool)
    /// This subscription has ended, and this is what waited for it.
    case discarded(PendingNotifications)
    /// This subscription has been succeeded meanwhile: it is for the successor.
    case forwarded(HandOver)
  }

  /// Ends this mailbox where it stands and gives what waits to a successor.
  ///
  /// - Returns: what waits; `nil` if this mailbox expects an handedOver itself, which it will pass on.
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

  /// Takes over what waited for the predecessor.
  ///
  /// - Parameters:
  ///   - handedOver: what waited.
  ///   - published: as with ``attend(published:)``.
  /// - Returns: what comes of it.
  mutating func takeOver(_ handedOver: HandOver, published: Int?) -> TakeOverResult {
    flags.remove(.awaitingHandOver)
    if flags.remove(.forwarding) != nil { return .forwarded(handedOver) }
    let length = position - handedOver.position
    start -= length + (handedOver.backlog.first?.count ?? 0)
    if termination != nil {
      var pending = PendingNotifications(chain: handedOver.next, length: length)
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
  /// - Returns: whether a worker is to be asked for.
  mutating func open(published: Int?) -> Bool {
    flags.remove(.held)
    return needsWorker(published)
  }

  private func needsWorker(_ published: Int?) -> Bool {
    guard let published, termination == nil, flags.isDisjoint(with: .shut) else { return false }
    return hasMore(published)
  }
}
