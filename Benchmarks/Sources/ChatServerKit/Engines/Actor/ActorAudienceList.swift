import Synchronization

/// The audiences of the rooms.
final class ActorAudienceList: Sendable {
  private let audiences = Mutex<[ObjectIdentifier: ActorAudience]>([:])

  var all: [ActorAudience] { audiences.withLock { Array($0.values) } }

  func add(_ audience: ActorAudience) {
    audiences.withLock { $0[ObjectIdentifier(audience)] = audience }
  }

  func remove(_ audience: ActorAudience) {
    _ = audiences.withLock { $0.removeValue(forKey: ObjectIdentifier(audience)) }
  }
}
