import Dispatch
import Synchronization

/// Who is asked and told, held weakly, and on which queue.
final class QueueRoster: Sendable {
  private struct Entry: Sendable {
    weak var subscriber: (any ServerExtension)?
    let priority: Int
    let queue: DispatchQueue
  }

  private let entries = Mutex<[Entry]>([])

  func add(_ subscriber: any ServerExtension) {
    let options = subscriber.options
    let entry = Entry(
      subscriber: subscriber, priority: options.priority,
      queue: options.queue ?? DispatchQueue(label: subscriber.name))
    entries.withLock { entries in
      let place = entries.firstIndex { $0.priority < entry.priority } ?? entries.endIndex
      entries.insert(entry, at: place)
    }
  }

  func remove(_ subscriber: any ServerExtension) {
    entries.withLock { $0.removeAll { $0.subscriber == nil || $0.subscriber === subscriber } }
  }

  func all<P: Sendable>(_ protocol: P.Type) -> [(P, DispatchQueue)] {
    entries.withLock { $0 }.compactMap { entry in
      (entry.subscriber as? P).map { ($0, entry.queue) }
    }
  }
}
