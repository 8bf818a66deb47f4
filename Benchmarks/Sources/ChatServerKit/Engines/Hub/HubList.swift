import Delegation
import Synchronization

/// The hubs of the rooms.
///
/// A hub that a room no longer needs waits for the next room, rather than go: so its counts stay in the
/// accounts, and there are never more hubs than there were rooms at a time, but for those that wait for a
/// member that is slow to leave.
final class HubList: Sendable {
  private struct State {
    var all: [DelegateHub] = []
    /// Those of `all` that no room uses.
    var idle: [DelegateHub] = []
    /// The rooms of those that are in use.
    var rooms: [ObjectIdentifier: String] = [:]
  }

  private let state = Mutex(State())
  private let configuration: DelegateHub.Configuration
  private let share: RoomShare

  /// - Parameters:
  ///   - configuration: what the hubs are to be like.
  ///   - backlogBytes: how many bytes may wait for members that do not keep up.
  init(_ configuration: DelegateHub.Configuration, backlogBytes: RoomShare) {
    self.configuration = configuration
    share = backlogBytes
  }

  var all: [DelegateHub] { state.withLock { $0.all } }
  /// Those in use, each with its room.
  var inUse: [(name: String, hub: DelegateHub)] {
    state.withLock { state in
      state.all.compactMap { hub in state.rooms[ObjectIdentifier(hub)].map { ($0, hub) } }
    }
  }
  /// How many are in use.
  var countInUse: Int { state.withLock { $0.all.count - $0.idle.count } }

  /// How many bytes may wait for a member of a room.
  var backlogBytes: Int { share.bytes(with: countInUse) }

  /// A hub without subscribers, for a room.
  func take(for room: String) -> DelegateHub {
    let idle = state.withLock { state in
      let hub = state.idle.popLast()
      if let hub { state.rooms[ObjectIdentifier(hub)] = room }
      return hub
    }
    if let idle { return idle }
    let hub = DelegateHub(configuration)
    state.withLock { state in
      state.all.append(hub)
      state.rooms[ObjectIdentifier(hub)] = room
    }
    return hub
  }

  /// Takes back a hub that nobody subscribes to any more, and at which nobody is told anything.
  func putBack(_ hub: DelegateHub) {
    state.withLock { state in
      state.idle.append(hub)
      state.rooms[ObjectIdentifier(hub)] = nil
    }
  }
}
