import Delegation
import Dispatch
import Foundation
import Synchronization

/// Who is told and asked.
protocol Delegate: AnyObject, Sendable {
  func didPerform(_ number: Int)
  func allows(_ number: Int) -> Bool
  func mayPerform(_ number: Int) async -> Bool
  func mayPerformLater(_ number: Int) async -> Bool
}

final class Member: Delegate {
  let end: Countdown
  private let heard = Atomic<Int>(0)
  /// Whether a countdown is told of each call.
  private let isCounted: Bool

  init(_ end: Countdown, isCounted: Bool) { (self.end, self.isCounted) = (end, isCounted) }

  func didPerform(_ number: Int) {
    if isCounted { end.arrive() } else { heard.add(number, ordering: .relaxed) }
  }
  func allows(_ number: Int) -> Bool { number >= 0 }
  func mayPerform(_ number: Int) async -> Bool { number >= 0 }
  func mayPerformLater(_ number: Int) async -> Bool {
    await Task.yield()
    return number >= 0
  }
}

/// An entry of an array of weak references: a loop over those that are stored in the array itself copies each in order to
/// look at it, which costs 15 ns more.
final class Box: Sendable {
  weak let value: (any Delegate)?
  init(_ value: any Delegate) { self.value = value }
}

/// A loop behind a mutex.
final class MutexLoop: Sendable {
  private let boxes = Mutex<[Box]>([])

  func add(_ delegate: any Delegate) { boxes.withLock { $0.append(Box(delegate)) } }
  func remove(_ delegate: any Delegate) {
    boxes.withLock { $0.removeAll { $0.value === delegate } }
  }

  func call(_ body: (any Delegate) -> Void) {
    for box in boxes.withLock({ $0 }) { if let delegate = box.value { body(delegate) } }
  }

  func vote(_ body: (any Delegate) -> Bool) -> Bool {
    for box in boxes.withLock({ $0 }) {
      if let delegate = box.value, !body(delegate) { return false }
    }
    return true
  }
}

/// Weak boxes in an actor, which awaits one after another.
actor ActorLoop {
  private let boxes: [Box]
  init(_ delegates: [any Delegate]) { boxes = delegates.map(Box.init) }

  func vote(_ body: @Sendable (any Delegate) async -> Bool) async -> Bool {
    for box in boxes { if let delegate = box.value, await !body(delegate) { return false } }
    return true
  }
}

/// Weak boxes in an actor, a task for each delivery and a group for each question: what most people write first.
actor TaskForEach {
  private let boxes: [Box]
  init(_ delegates: [any Delegate]) { boxes = delegates.map(Box.init) }

  func notify(_ body: @escaping @Sendable (any Delegate) -> Void) {
    for box in boxes { if let delegate = box.value { Task { body(delegate) } } }
  }

  func notifyAndWait(_ body: @escaping @Sendable (any Delegate) -> Void) async {
    await withDiscardingTaskGroup { group in
      for box in boxes { if let delegate = box.value { group.addTask { body(delegate) } } }
    }
  }

  func vote(_ body: @escaping @Sendable (any Delegate) async -> Bool) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for box in boxes {
        if let delegate = box.value { group.addTask { await body(delegate) } }
      }
      for await isAllowed in group where !isAllowed {
        group.cancelAll()
        return false
      }
      return true
    }
  }
}

/// XMPPFramework's `GCDMulticastDelegate`: a weak node and a serial queue for each delegate.
final class QueueForEach: Sendable {
  private struct Node: Sendable {
    let box: Box
    let queue: DispatchQueue
  }

  private let nodes = Mutex<[Node]>([])

  func add(_ delegate: any Delegate) {
    let node = Node(box: Box(delegate), queue: DispatchQueue(label: "delegate"))
    nodes.withLock { $0.append(node) }
  }

  func notify(_ body: @escaping @Sendable (any Delegate) -> Void) {
    for node in nodes.withLock({ $0 }) {
      if let delegate = node.box.value { node.queue.async { body(delegate) } }
    }
  }
}

/// `NotificationCenter` with closures, which are called before `post` returns.
final class Center: @unchecked Sendable {
  private static let didPerform = Notification.Name("didPerform")
  // Unchecked: the center locks by itself, but its type does not say so. Its observers go with it.
  private let center = NotificationCenter()

  @discardableResult
  func add(_ delegate: any Delegate) -> any NSObjectProtocol {
    center.addObserver(forName: Self.didPerform, object: nil, queue: nil) {
      [weak delegate] notification in
      if let number = notification.userInfo?["number"] as? Int { delegate?.didPerform(number) }
    }
  }

  func remove(_ token: any NSObjectProtocol) { center.removeObserver(token) }

  func post(_ number: Int) {
    center.post(name: Self.didPerform, object: nil, userInfo: ["number": number])
  }
}

/// An `AsyncStream` for each who listens.
final class Streams: Sendable {
  private let continuations = Mutex<[AsyncStream<Int>.Continuation]>([])

  deinit { for continuation in continuations.withLock({ $0 }) { continuation.finish() } }

  func make() -> AsyncStream<Int> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    continuations.withLock { $0.append(continuation) }
    return stream
  }

  /// And a task that calls a delegate with what the stream brings.
  func add(_ delegate: any Delegate) {
    let stream = make()
    Task { [weak delegate] in
      for await number in stream { delegate?.didPerform(number) }
    }
  }

  func post(_ number: Int) {
    for continuation in continuations.withLock({ $0 }) { continuation.yield(number) }
  }
}
