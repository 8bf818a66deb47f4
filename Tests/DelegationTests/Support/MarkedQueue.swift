import Dispatch

/// Serial dispatch queues that code can tell it runs on.
enum MarkedQueue {
  private static let key = DispatchSpecificKey<String>()

  /// The name of the marked queue that the present code runs on, or "elsewhere".
  static var current: String { DispatchQueue.getSpecific(key: key) ?? "elsewhere" }

  static func make(_ name: String) -> DispatchQueue {
    let queue = DispatchQueue(label: name)
    queue.setSpecific(key: key, value: name)
    return queue
  }
}
