import Synchronization

@testable import Delegation

/// A subscriber for tests of the pieces that need one and never call it.
final class Nobody: Sendable {}

/// One topic without a hub.
///
/// Nobody serves it: what is posted waits until the test has it handled, and the delivery that was requested for it
/// stays counted until the test begins it.
final class Board: Sendable {
  private let core: HubCore
  private let owner: Owner
  let topic: Topic

  /// Notes what a topic asks of its owner.
  private final class Owner: TopicOwner {
    let core: HubCore
    let requested = Lock<[SubscriptionNode]>([])
    let sweeps = Atomic<Int>(0)

    init(_ core: HubCore) { self.core = core }

    var number: Int { core.number }
    var deadlines: DeadlineQueue { core.deadlines }
    func countWorker() { core.countWorker() }
    func uncountWorker() { core.uncountWorker() }
    func report(_ incident: DelegateHub.Incident) {}
    func requestWorker(for node: SubscriptionNode, priority: TaskPriority) {
      core.countWorker()
      requested.withLock { $0.append(node) }
    }
    func releaseOptions(of node: SubscriptionNode) { node.releaseOptions() }
    func sweep(_ topic: Topic) { sweeps.add(1, ordering: .relaxed) }
  }

  init(_ type: Any.Type = Nobody.self) {
    core = Board.core()
    owner = Owner(core)
    topic = Topic(type, owner: owner)
  }

  /// What the topics and questions of one hub share, without a hub.
  static func core(on executor: (any TaskExecutor)? = nil) -> HubCore {
    HubCore(
      on: executor, within: [], propagating: [],
      by: DeadlineQueue(clock: ContinuousClock(), executor: nil), telling: { _ in })
  }

  func subscribe(
    _ subscriber: AnyObject & Sendable, id: (any Hashable & Sendable)? = nil, priority: Int? = nil,
    mailbox: DelegateHub.MailboxPolicy? = nil, on executor: (any TaskExecutor)? = nil
  ) -> SubscriptionNode {
    topic.subscribe(
      (
        subscriber,
        SubscriptionOptions(
          of: subscriber, id: id.map { Identity($0) }, policy: mailbox, executor: executor),
        priority, (#fileID, #line)
      ),
      reference: WeakReference(subscriber, object: subscriber))
  }

  /// - Returns: whether a delivery was requested.
  @discardableResult
  func post(_ body: @escaping @Sendable () -> Void = {}, receipt: Receipt? = nil) -> Bool {
    var content = Structures.content(body)
    content.receipt = receipt
    return topic.post(content, for: owner)
  }

  /// Begins the delivery that was requested, and counts it off.
  @discardableResult
  func beginDelivery() -> [SubscriptionNode] {
    defer { core.uncountWorker() }
    return topic.beginDelivery()
  }

  /// Takes those that a worker was requested for, and counts the workers off.
  @discardableResult
  func takeRequested() -> [SubscriptionNode] {
    let nodes = owner.requested.withLock { nodes in
      defer { nodes = [] }
      return nodes
    }
    for _ in nodes { core.uncountWorker() }
    return nodes
  }

  /// How many searches for dead subscribers have been asked for since the last call.
  func takeSweeps() -> Int { owner.sweeps.exchange(0, ordering: .relaxed) }

  /// Does what a hub does that is released: subscriptions refer to their topic, and it to them.
  func clear() {
    topic.terminateAll()
    takeRequested()
  }
}

/// What the pieces inside are built of in tests that have no hub.
enum Structures {
  /// A notification's content that does something when it is handled.
  static func content(_ body: @escaping @Sendable () -> Void = {}) -> Notification.Content {
    Notification.Content(
      handler: .synchronous { _ in
        body()
        return .handled
      })
  }

  /// A chain of notifications that do something with their numbers when they are handled, and a placeholder.
  static func chain(
    of count: Int, handling body: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> Notification {
    var next = Notification()
    for number in (0..<count).reversed() {
      let notification = Notification()
      notification.fill(with: content { body(number) }, followedBy: next)
      next = notification
    }
    return next
  }
}

extension Notification.Content {
  private static let subscriber = Nobody()

  /// Runs a synchronous handler.
  func run() {
    guard case .synchronous(let handle) = handler else { return }
    _ = try? handle(WeakReference(Self.subscriber, object: Self.subscriber))
  }
}

extension SubscriptionNode {
  /// Attends, if no other worker does, and takes the first notification, as a worker of a delivery does.
  func begin() -> Notification.Content? {
    if case .handle(let content) = attend(on: nil) { content } else { nil }
  }

  /// Does what a worker of a delivery does with a subscription.
  func visit() {
    if let content = begin() { serve(content) }
  }

  /// Handles what was taken, and what follows.
  func serve(_ content: Notification.Content) {
    var step = Mailbox.Step.handle(content)
    while case .handle(let content) = step {
      let isOpen = isOpen
      if isOpen { content.run() }
      let fate = isOpen ? Notification.Fate.handled : .expired
      step = advance(after: fate)
      content.receipt?.pass(as: fate)
    }
  }
}
