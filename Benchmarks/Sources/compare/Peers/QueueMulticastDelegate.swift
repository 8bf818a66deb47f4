import Dispatch
import Synchronization

/// XMPPFramework's `GCDMulticastDelegate` in Swift: a weak node and a serial queue for each delegate.
///
/// As there, the delegate is loaded where the event is posted and the block keeps it alive; the
/// forwarded invocation is a closure. The original is bound to one queue; a lock stands for that.
final class QueueMulticastDelegate: Sendable {
  private final class Node: Sendable {
    weak let delegate: (any Listener)?
    let queue: DispatchQueue

    init(_ delegate: any Listener, _ queue: DispatchQueue) {
      self.delegate = delegate
      self.queue = queue
    }
  }

  private let nodes = Mutex<[Node]>([])

  func add(_ delegate: any Listener, delegateQueue: DispatchQueue) {
    nodes.withLock { $0.append(Node(delegate, delegateQueue)) }
  }

  func remove(_ delegate: any Listener) {
    nodes.withLock { nodes in
      nodes.removeAll { $0.delegate === delegate }
    }
  }

  func invoke(_ body: @escaping @Sendable (any Listener) -> Void) {
    for node in nodes.withLock({ $0 }) {
      if let delegate = node.delegate {
        node.queue.async { body(delegate) }
      }
    }
  }
}
