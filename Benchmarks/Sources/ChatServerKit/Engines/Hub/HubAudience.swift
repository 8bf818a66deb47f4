import Delegation

/// A room's members, who subscribe to a hub of the room's own.
///
/// A member that does not keep up has messages waiting up to a limit, then loses the oldest, and holds up
/// nobody.
struct HubAudience: Audience {
  private let hub: DelegateHub
  private let hubs: HubList
  private let backlog: Int
  private let isAwaited: Bool

  init(_ hubs: HubList, backlog: Int, isAwaited: Bool) {
    hub = hubs.take()
    self.hubs = hubs
    self.backlog = backlog
    self.isAwaited = isAwaited
  }

  func add(_ member: any RoomMember) {
    hub.subscribe(
      member, to: (any RoomMember).self, id: member.id, mailbox: .dropOldest(limit: backlog),
      on: member.executor)
  }

  func remove(_ member: any RoomMember) {
    hub.unsubscribe(member)
  }

  func post(_ message: Message) {
    hub.notify((any RoomMember).self) { try await $0.receive(message) }
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
