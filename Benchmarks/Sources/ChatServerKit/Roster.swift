import Delegation
import Synchronization

/// Who is there by which name, and in which rooms.
final class Roster: Sendable {
  private struct Entry {
    let member: any RoomMember
    var rooms: [String: DelegateHub.Subscription] = [:]
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
    entries.withLock { $0[name]?.rooms[room] = subscription }
  }

  func leave(_ room: String, _ name: String) -> DelegateHub.Subscription? {
    entries.withLock { $0[name]?.rooms.removeValue(forKey: room) }
  }
}
