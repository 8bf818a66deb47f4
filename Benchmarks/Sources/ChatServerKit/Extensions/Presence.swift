import Synchronization

/// Knows who is in which room.
final class Presence: ServerExtension, RoomObserver, PresenceKeeper {
  let name = "presence"
  let options = ExtensionOptions()
  /// How often, for one name may be there by several connections.
  private let people = Mutex<[String: [String: Int]]>([:])

  /// How many rooms it knows anybody in.
  var roomCount: Int { people.withLock { $0.count } }

  func room(_ room: String, didAdmit user: User) {
    people.withLock { $0[room, default: [:]][user.name, default: 0] += 1 }
  }

  func room(_ room: String, didDismiss user: User) {
    people.withLock { people in
      guard let count = people[room]?[user.name] else { return }
      people[room]?[user.name] = count > 1 ? count - 1 : nil
      if people[room]?.isEmpty == true { people[room] = nil }
    }
  }

  func people(in room: String) async -> [String] {
    people.withLock { $0[room]?.keys.sorted() ?? [] }
  }
}
