import Synchronization

/// The audiences of the rooms.
final class ActorAudienceList: Sendable {
  private let audiences = Mutex<[ActorAudience]>([])

  var all: [ActorAudience] { audiences.withLock { $0 } }

  func add(_ audience: ActorAudience) {
    audiences.withLock { $0.append(audience) }
  }
}
