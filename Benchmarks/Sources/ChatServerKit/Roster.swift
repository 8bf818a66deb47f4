import Delegation
import Synchronization

/// Who is there by which name, and in which rooms.
final class Roster: Sendable {
  private struct Entry {
    let member: any RoomMember
    var rooms: [String: DelegateHub.Subscription] = [:]
    /// The room of each subscription, and how many of its lines the member knows to be lost.
    var lost: [DelegateHub.Subscription: (room: String, count: Int)] = [:]
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// - Returns: whether nobody had the name.
  func add(_ member: any RoomMember, named name: String) -> Bool {
    entries.withLock { entries in
      guard entries[name] == nil else { return false }
      entries[name] = Entry(member: member)
      return true
    }
  }

  /// - Returns: the rooms that the member was in, each with its subscription.
  func remove(_ name: String) -> [String: DelegateHub.Subscription] {
    // The member itself is released outside the lock.
    let entry = entries.withLock { $0.removeValue(forKey: name) }
    return entry?.rooms ?? [:]
  }

  func member(named name: String?) -> (any RoomMember)? {
    entries.withLock { entries in name.flatMap { entries[$0]?.member } }
  }

  func rooms(of name: String) -> Int { entries.withLock { $0[name]?.rooms.count ?? 0 } }

  func isIn(_ room: String, _ name: String) -> Bool {
    entries.withLock { $0[name]?.rooms[room] != nil }
  }

  func note(_ subscription: DelegateHub.Subscription, of name: String, in room: String) {
    entries.withLock { entries in
      guard var entry = entries[name] else { return }
      entry.rooms[room] = subscription
      // What waits in a room that was left is still heard, and its notice is not repeated.
      entry.lost = entry.lost.filter { $0.key.isActive }
      entry.lost[subscription] = (room, 0)
      entries[name] = entry
    }
  }

  func leave(_ room: String, _ name: String) -> DelegateHub.Subscription? {
    entries.withLock { $0[name]?.rooms.removeValue(forKey: room) }
  }

  /// Notes how many lines a subscription's mailbox has dropped.
  ///
  /// - Returns: the member, and what is to be said of those that were not noted before; `nil` if there are none.
  func note(lost: Int, for name: String, _ subscription: DelegateHub.Subscription) -> (
    member: any RoomMember, line: String
  )? {
    entries.withLock { entries in
      guard let entry = entries[name], let known = entry.lost[subscription], lost > known.count
      else { return nil }
      entries[name]?.lost[subscription]?.count = lost
      let count = lost - known.count
      let lines = count == 1 ? "1 line is missing" : "\(count) lines are missing"
      return (entry.member, "* \(lines) here in \(known.room)")
    }
  }
}

/// Tells a member who is slower than a room how many lines are missing, in their place.
///
/// It belongs within what gives handlers a deadline: who reads nothing does not read this either.
struct LossNotice: DelegateHub.Interceptor {
  let roster: Roster

  nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let dropped = call.subscription.statistics.counts.dropped
    if dropped > 0, let name = call.id as? String,
      let (member, line) = roster.note(lost: dropped, for: name, call.subscription)
    {
      try? await member.hear(line)
    }
    return await next()
  }
}
