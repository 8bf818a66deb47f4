/// What a hub's topics need of it: its count of workers, its incidents, and workers, as long as it exists.
final class Dispatcher: SubscriptionOwner {
  let activity: Activity
  private let tell: @Sendable (DelegateHub.Incident) -> Void
  /// Not kept: a subscription keeps its dispatcher, and neither the hub nor the hub's executor.
  private let hub = Lock(Hub())

  private struct Hub: Sendable {
    weak var workplace: (any Workplace)?
  }

  /// - Parameters:
  ///   - activity: the hub's count of workers.
  ///   - tell: tells the user of an incident, without waiting.
  init(
    activity: Activity = Activity(),
    telling tell: @escaping @Sendable (DelegateHub.Incident) -> Void = { _ in }
  ) {
    self.activity = activity
    self.tell = tell
  }

  /// The hub, if it exists; set when it is made.
  var workplace: (any Workplace)? {
    get { hub.withLock { $0.workplace } }
    set { hub.withLock { $0.workplace = newValue } }
  }

  func requestWorker(for node: SubscriptionNode) {
    guard let workplace else { return }
    Lane(delivering: [node], for: workplace).requestWorker()
  }

  func report(_ incident: DelegateHub.Incident) { tell(incident) }

  func sweep(_ topic: Topic) {
    // In a task of its own: the last reference to a subscriber may be released there.
    Task.startDetached(on: workplace?.executor) {
      for node in topic.snapshot() where !node.reference.isAlive { node.terminate(as: .expired) }
      topic.state.withLock { $0.didSweep() }
      self.activity.end()
    }
  }
}
