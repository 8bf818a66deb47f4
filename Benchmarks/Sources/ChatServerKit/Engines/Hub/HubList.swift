import Delegation
import Synchronization

/// The hubs of the rooms.
final class HubList: Sendable {
  private let hubs = Mutex<[DelegateHub]>([])

  var all: [DelegateHub] { hubs.withLock { $0 } }

  func add(_ hub: DelegateHub) {
    hubs.withLock { $0.append(hub) }
  }
}
