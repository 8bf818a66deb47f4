import Delegation
import Synchronization

/// A room's members, who subscribe to a hub of the room's own.
///
/// A member that does not keep up has messages waiting up to a limit, then loses the oldest, and holds up
/// nobody. What waits is limited in bytes as well: a member that is further behind loses all that waits for it.
/// Members share what waits, so this limits what a room keeps, whatever the number of those who do not read.
final class HubAudience: Audience {
  private struct Members {
    /// By their ids.
    var all: [Int: Entry] = [:]
    /// The last looks at the members, one for each eighth of the bytes that may wait.
    var looks: [(number: Int, end: Int)] = []

    /// Takes note of a message.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - bytes: how many bytes may wait for a member.
    ///   - count: how many messages may.
    /// - Returns: where what may wait begins at the earliest; `nil` if it is not time to look at the members.
    mutating func look(at message: Message, allowing bytes: Int, _ count: Int) -> Int? {
      guard message.end - (looks.last?.end ?? 0) >= bytes / 8 else { return nil }
      looks.append((message.number, message.end))
      // Those that are longer ago tell nothing more.
      if looks.count > 16 { looks.removeFirst() }
      return looks.last { $0.number <= message.number - count }?.end ?? 0
    }
  }

  /// What a member is known by: by its number, and to people by its name.
  private struct Label: Hashable, Sendable, CustomStringConvertible {
    let id: Int
    let description: String

    static func == (one: Label, other: Label) -> Bool { one.id == other.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  private struct Entry {
    weak var member: (any RoomMember)?
    /// Up to where what waited for it was thrown away.
    var emptied = 0
  }

  private let hub: DelegateHub
  private let hubs: HubList
  private let backlog: Int
  private let isAwaited: Bool
  private let members = Mutex(Members())

  init(_ room: String, _ hubs: HubList, backlog: Int, isAwaited: Bool) {
    hub = hubs.take(for: room)
    self.hubs = hubs
    self.backlog = backlog
    self.isAwaited = isAwaited
  }

  func add(_ member: any RoomMember) {
    members.withLock { $0.all[member.id] = Entry(member: member) }
    subscribe(member, limit: backlog)
  }

  func remove(_ member: any RoomMember) {
    members.withLock { _ = $0.all.removeValue(forKey: member.id) }
    hub.unsubscribe(member)
  }

  /// Subscribes a member; one that is subscribed has other options by this.
  private func subscribe(_ member: any RoomMember, limit: Int) {
    hub.subscribe(
      member, to: (any RoomMember).self, id: Label(id: member.id, description: member.name),
      mailbox: .dropOldest(limit: limit),
      on: member.executor)
  }

  func post(_ message: Message) {
    // Before the message: so the last one waits for everybody, and who has missed others hears so from it.
    empty(before: message)
    hub.notify((any RoomMember).self) { try await $0.receive(message) }
  }

  /// Throws away what waits for members that are too many bytes behind, but for the last message.
  private func empty(before message: Message) {
    let backlogBytes = hubs.backlogBytes
    let beginning = members.withLock { $0.look(at: message, allowing: backlogBytes, backlog) }
    guard let beginning, message.end - beginning > backlogBytes else { return }
    for entry in members.withLock({ Array($0.all.values) }) {
      guard let member = entry.member else { continue }
      let taken = max(beginning, entry.emptied, member.taken(in: message.roomID))
      guard message.end - taken > backlogBytes else { continue }
      // A smaller mailbox drops what it has no place for. To unsubscribe would lose the name of who does not read.
      subscribe(member, limit: 1)
      subscribe(member, limit: backlog)
      members.withLock { $0.all[member.id]?.emptied = message.end - message.size }
    }
  }

  func settle() async {
    // What is posted in the room's order has to be posted without a wait: this one says nothing, and
    // comes after it.
    if isAwaited { await hub.notifyAndWait((any RoomMember).self) { _ in } }
  }

  func close() {
    // A member that has left may still be taking its last message.
    Task { [hub, hubs] in
      await hub.drain()
      hubs.putBack(hub)
    }
  }
}
