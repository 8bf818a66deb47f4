/// One mailbox in the place of another: who takes over an id takes over what waits, and an object that
/// subscribes anew while its former subscription's handler is running is held until that has returned.
///
/// The successor begins shut. So nothing needs a lock that two mailboxes share: what waits may go from
/// one to the other while both are posted to and worked on.
extension Mailbox {
  /// What waited for one subscription and is to be handled by its successor.
  struct Inheritance: Sendable {
    fileprivate var backlog: [Backlog]
    fileprivate var next: Notification?
    fileprivate var position: Int
  }

  /// What comes of an inheritance.
  enum Reception: Sendable {
    /// It waits in this mailbox; a worker is to be asked for if `isDue`.
    case kept(isDue: Bool)
    /// This subscription has ended, and this is what waited for it.
    case refused(Remains)
    /// This subscription has been succeeded meanwhile: it is for the successor.
    case passedOn(Inheritance)
  }

  /// Ends this mailbox where it stands and gives what waits to a successor.
  ///
  /// - Returns: what waits; `nil` if this mailbox expects an inheritance itself, which it will pass on.
  mutating func handOver() -> Inheritance? {
    guard ending == nil else { return nil }
    ending = .cancelled
    defer { next = nil }
    if flags.contains(.expectant) {
      flags.insert(.passesOn)
      return nil
    }
    start += storedCount
    var stored: [Backlog] = []
    if !backlog.isEmpty {
      stored = [Backlog(policy: .unbounded)]
      stored[0].takeOver(from: &backlog[0])
    }
    return Inheritance(backlog: stored, next: next, position: position)
  }

  /// Takes over what waited for the predecessor.
  ///
  /// - Parameters:
  ///   - inheritance: what waited.
  ///   - published: as with ``attend(published:)``.
  /// - Returns: what comes of it.
  mutating func inherit(_ inheritance: Inheritance, published: Int?) -> Reception {
    flags.remove(.expectant)
    if flags.remove(.passesOn) != nil { return .passedOn(inheritance) }
    let length = position - inheritance.position
    start -= length + (inheritance.backlog.first?.count ?? 0)
    if ending != nil {
      var remains = Remains(chain: inheritance.next, first: inheritance.position, length: length)
      if var backlog = inheritance.backlog.first { remains.stored = backlog.takeAll() }
      return .refused(remains)
    }
    next = inheritance.next
    position = inheritance.position
    if var former = inheritance.backlog.first {
      if backlog.isEmpty { backlog = [Backlog(policy: .unbounded)] }
      backlog[0].takeOver(from: &former)
    }
    return .kept(isDue: isDue(published))
  }

  /// Opens a mailbox that was held.
  ///
  /// - Parameter published: as with ``attend(published:)``.
  /// - Returns: whether a worker is to be asked for.
  mutating func release(published: Int?) -> Bool {
    flags.remove(.held)
    return isDue(published)
  }

  private func isDue(_ published: Int?) -> Bool {
    guard let published, ending == nil, flags.isDisjoint(with: .shut) else { return false }
    return hasMore(published)
  }
}
