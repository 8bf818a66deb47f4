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
  /// How many are in use.
  var countInUse: Int { state.withLock { $0.all.count - $0.idle.count } }

  /// How many bytes may wait for a member of a room.
  var backlogBytes: Int { share.bytes(with: countInUse) }

  /// A hub without subscribers.
  func take() -> DelegateHub {
    if let hub = state.withLock({ $0.idle.popLast() }) { return hub }
    let hub = DelegateHub(configuration)
    state.withLock { $0.all.append(hub) }
    return hub
  }

  /// Takes back a hub that nobody subscribes to any more, and at which nobody is told anything.
  func putBack(_ hub: DelegateHub) {
    state.withLock { $0.idle.append(hub) }
  }
}
