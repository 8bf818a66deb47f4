import Synchronization

@testable import Delegation

/// The topics of a hub, without a hub.
///
/// Nobody comes by: what is posted waits until the test has it handled, and the lane that was requested for it stays
/// counted until the test begins it.
final class Switchboard: Sendable {
  let topics = Topics()
  private let owner: Owner

  /// Notes what is asked of it.
  private final class Owner: SubscriptionOwner {
    let dispatcher: Dispatcher
    let requested = Lock<[SubscriptionNode]>([])
    let sweeps = Atomic<Int>(0)

    init(_ dispatcher: Dispatcher) { self.dispatcher = dispatcher }

    var activity: Activity { dispatcher.activity }

    func report(_ incident: DelegateHub.Incident) { dispatcher.report(incident) }
    func requestWorker(for node: SubscriptionNode) {
      activity.begin()
      requested.withLock { $0.append(node) }
    }
    func reconsiderWaits(for node: SubscriptionNode) { dispatcher.reconsiderWaits(for: node) }
    func sweep(_ topic: Topic) { sweeps.add(1, ordering: .relaxed) }
  }

  init(telling tell: @escaping @Sendable (DelegateHub.Incident) -> Void = { _ in }) {
    owner = Owner(Dispatcher(telling: tell))
  }

  /// Releases what a test has left undone, which keeps its topic, and is kept by it.
  deinit {
    takeRequested()
    for topic in topics.all {
      let left = topic.state.withLock { index in
        defer { index = TopicIndex() }
        return index
      }
      withExtendedLifetime(left) {}
    }
  }

  var activity: Activity { owner.activity }

  /// The topic of a type that stands for a protocol.
  func topic(of type: Any.Type = Nobody.self) -> Topic { topics.find(type, owner: owner) }

  /// What is under the lock of a protocol's topic.
  func index(of key: ObjectIdentifier) -> TopicIndex? { topics.find(key)?.state.withLock { $0 } }

  /// - Returns: whether a lane was requested.
  @discardableResult
  func post(_ content: Notification.Content, to key: ObjectIdentifier) -> Bool {
    topics.find(key)?.post(content) ?? false
  }

  /// Begins the lane that was requested, and counts it off.
  @discardableResult
  func beginLane(of key: ObjectIdentifier = Structures.key) -> [SubscriptionNode] {
    defer { activity.end() }
    return topics.find(key)?.beginLane() ?? []
  }

  /// Takes those that a worker was requested for, and counts the workers off.
  @discardableResult
  func takeRequested() -> [SubscriptionNode] {
    let nodes = owner.requested.withLock { nodes in
      defer { nodes = [] }
      return nodes
    }
    for _ in nodes { activity.end() }
    return nodes
  }

  /// How many searches for dead subscribers have been asked for since the last call; they are counted as workers.
  func takeSweeps() -> Int { owner.sweeps.exchange(0, ordering: .relaxed) }

  func terminate(_ object: AnyObject) {
    for topic in topics.all { topic.terminate(object) }
  }

  func terminate(identifiedBy identity: Identity) {
    for topic in topics.all { topic.terminate(identifiedBy: identity) }
  }

  func terminateAll() {
    for topic in topics.all { topic.terminateAll() }
  }

  /// Begins the termination of a subscription, and leaves it to the test to finish it.
  ///
  /// - Returns: how many notifications had been posted by then; `nil` if it was terminated before.
  func beginTermination(
    on node: SubscriptionNode, as termination: Termination = .cancelled
  ) -> Int? {
    node.topic.state.withLock { index in
      var effects: [Topic.Effect] = []
      Topic.terminate(node, as: termination, &index, &effects)
      for case .finish(_, let end, _, _) in effects { return end }
      return nil
    }
  }

  /// Does what a hub does that is released.
  func clear() {
    terminateAll()
    takeRequested()
  }
}
