import Dispatch

/// Where code runs.
nonisolated enum Place: String, Sendable {
  case mainActor = "the main actor"
  case queue = "the queue"
  case pool = "the pool"

  private static let mark = DispatchSpecificKey<Place>()

  /// Looked up by the queue and not by the thread: on Linux the main queue has no thread of its own.
  static var current: Place { DispatchQueue.getSpecific(key: mark) ?? .pool }

  /// To be called first.
  static func begin() { DispatchQueue.main.setSpecific(key: mark, value: .mainActor) }

  /// A serial queue whose handlers know that they run on it.
  static func makeQueue() -> DispatchQueue {
    let queue = DispatchQueue(label: "client")
    queue.setSpecific(key: mark, value: .queue)
    return queue
  }
}
