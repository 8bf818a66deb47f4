import Delegation
import Dispatch

/// Where code runs.
nonisolated enum Place: String, Sendable {
  case mainActor = "the main actor"
  case queue = "the queue"
  case other = "another global actor"
  case pool = "the pool"

  private static let mark = DispatchSpecificKey<Place>()

  /// Looked up by the queue and not by the thread: on Linux the main queue has no thread of its own.
  static var current: Place { DispatchQueue.getSpecific(key: mark) ?? .pool }

  /// To be called first.
  static func begin() { DispatchQueue.main.setSpecific(key: mark, value: .mainActor) }

  /// A serial queue whose handlers know that they run on it.
  static func makeExecutor(for place: Place = .queue) -> DispatchQueueExecutor {
    let queue = DispatchQueue(label: "client")
    queue.setSpecific(key: mark, value: place)
    return DispatchQueueExecutor(queue)
  }
}

/// A global actor beside the main one.
@globalActor
actor Other {
  nonisolated static let shared = Other()

  private nonisolated let executor = Place.makeExecutor(for: .other)
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
}
