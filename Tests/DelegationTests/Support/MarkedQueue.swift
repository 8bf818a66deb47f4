import Dispatch

/// Serial dispatch queues that code can tell it runs on.
enum MarkedQueue {
  private static let key = DispatchSpecificKey<String>()

  /// The name of the marked queue that the present code runs on, or "elsewhere".
  static var current: String { DispatchQueue.getSpecific(key: key) ?? "elsewhere" }

  static func make(_ name: String) -> DispatchQueue {
    mark(DispatchQueue(label: name), as: name)
  }

  /// Has code on a queue know its name.
  @discardableResult
  static func mark(_ queue: DispatchQueue, as name: String) -> DispatchQueue {
    queue.setSpecific(key: key, value: name)
    return queue
  }
}
