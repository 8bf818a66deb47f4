import Synchronization

@testable import Delegation

/// A subscriber for tests of the pieces that need one and never call it.
final class Nobody: Sendable {}

/// What the pieces inside are built of in tests that have no hub.
enum Structures {
  /// The key of the type that stands for a protocol.
  static var key: ObjectIdentifier { ObjectIdentifier(Nobody.self) }

  /// An open subscription that no topicIndex knows of.
  static func node(
    of subscriber: Nobody, in topic: Topic = Topic(Nobody.self),
    mailbox: Mailbox? = nil, priority: Int = 0, serial: Int = 0, identity: Identity? = nil,
    inPlaceOf predecessor: SubscriptionNode? = nil
  ) -> SubscriptionNode {
    SubscriptionNode(
      reference: WeakReference(subscriber, object: subscriber), topic: topic,
      mailbox: mailbox ?? Mailbox(at: Notification(), number: 0),
      options: SubscriptionOptions(id: identity),
      origin: Origin(Nobody.self, at: Site(file: #fileID, line: #line)), priority: priority,
      serial: serial, inPlaceOf: predecessor)
  }

  /// A subscription made through a switchboard.
  static func subscribe(
    _ subscriber: Nobody, to type: Any.Type = Nobody.self, in board: Switchboard,
    identity: Identity? = nil, priority: Int = 0, policy: DelegateHub.MailboxPolicy = .unbounded,
    on executor: (any TaskExecutor)? = nil
  ) -> SubscriptionNode {
    board.topic(of: type).subscribe(
      SubscriptionRequest(
        object: subscriber, type: Nobody.self,
        options: SubscriptionOptions(of: 0, id: identity, policy: policy, executor: executor),
        priority: priority, site: Site(file: #fileID, line: #line)),
      reference: WeakReference(subscriber, object: subscriber))
  }

  /// A notification's content that does something when it is handled.
  static func content(_ body: @escaping @Sendable () -> Void = {}) -> Notification.Content {
    Notification.Content(
      handler: .synchronous { _ in
        body()
        return .handled
      })
  }

  /// A chain of notifications that do something with their numbers when they are handled, and a
  /// placeholder.
  static func chain(
    of count: Int, before end: Notification = Notification(),
    handling body: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> Notification {
    var next = end
    for number in (0..<count).reversed() {
      let notification = Notification()
      notification.fill(with: content { body(number) }, followedBy: next)
      next = notification
    }
    return next
  }
}

extension TopicIndex {
  /// All subscriptions.
  var all: [SubscriptionNode] { Array(open.values) }

  /// For how many hashes of ids something is kept; `nil` if that cannot be seen.
  var buckets: Int? {
    let stored = Mirror(reflecting: self).children.first { $0.label == "named" }?.value
    return (stored as? Shards<[Named]>)?.count
  }

  /// Adds a subscription with an id.
  mutating func insert(_ node: SubscriptionNode, as identity: Identity?) {
    insert(node, with: SubscriptionOptions(id: identity))
  }

  /// Appends a notification, as a topic does.
  @discardableResult
  mutating func post(
    _ content: Notification.Content, to topic: Topic, followedBy end: Notification
  ) -> Notification {
    topic.append(content, followedBy: end, &self)
  }

  /// Brings the list of members up to date.
  mutating func merge() {
    var draft = members.take()
    draft.merge()
    _ = members.put(&draft)
  }

  /// Ends all subscriptions.
  mutating func terminateAll() {
    for node in all { _ = terminate(node) }
  }
}

extension Topic {
  /// One of a hub that does not exist.
  convenience init(_ type: Any.Type) {
    self.init(type, owner: Dispatcher())
  }
}

extension Notification.Content {
  /// A subscription for handlers that do not care.
  private static let node = Structures.node(of: Nobody())

  /// Runs a synchronous handler.
  func run() throws -> Bool {
    guard case .synchronous(let handle) = handler else { return false }
    return try handle(Self.node.reference) == .handled
  }
}

/// Takes the numbers of notifications until it is emptied.
final class Drawer: Sendable {
  private let numbers = Lock<[Int]>([])

  func put(_ number: Int) {
    numbers.withLock { $0.append(number) }
  }

  func empty() -> [Int] {
    numbers.withLock { numbers in
      defer { numbers = [] }
      return numbers
    }
  }
}

extension SubscriptionNode {
  /// Begins to attend the mailbox, as a worker of a lane does.
  func attend() -> Bool {
    isOpen && touch { contents, published in attend(&contents.mailbox, published) }
  }

  /// Does what a worker of a lane does with a subscription.
  func visit() {
    if attend() { serve() }
  }

  /// Takes the first notification, as who attends does.
  func proceed() -> Mailbox.Step {
    let step = contents.withLock { $0.mailbox.proceed(published: publishedWhileOpen) }
    if case .done = step {
      state.bitwiseAnd(~Bits.attended, ordering: .sequentiallyConsistent)
      if !isOpen { finish() }
    }
    return step
  }

  /// Does what a worker does that attends.
  func serve() {
    var step = proceed()
    while true {
      switch step {
      case .handle(let content):
        let isOpen = isOpen
        if isOpen { _ = try? content.run() }
        step = advance(after: isOpen ? .handled : .skipped)
        content.receipt?.pass()
      case .elsewhere, .more, .done: return
      }
    }
  }

  /// Attends, if nobody does, and takes the first notification.
  func begin() -> Notification.Content? {
    guard attend(), case .handle(let content) = proceed() else { return nil }
    return content
  }

  /// Whether none of its handlers runs and its account is final, once it is terminated.
  var isIdle: Bool { !isBusy && contents.withLock { $0.mailbox.isAccountedFor } }
}

extension Mailbox.Step {
  /// Whether nothing is left to do.
  var isDone: Bool {
    if case .done = self { true } else { false }
  }
}

extension Mailbox {
  /// Whether the account will not change any more.
  var isFinal: Bool { isAccountedFor && !flags.contains(.attended) }

  /// Ends, and passes the receipts of what waited, of which any may have one.
  mutating func end(at number: Int, as reason: Termination) {
    terminate(at: number, as: reason)?.passReceipts(upTo: .max, before: number)
  }

  /// Hands what is pending over to a successor, which begins with what is posted next.
  mutating func handOver(policy: DelegateHub.MailboxPolicy, published: Int) -> Mailbox? {
    guard var end = next else { return nil }
    for _ in position..<published { end = end.next ?? end }
    var successor = Mailbox(at: end, number: published, policy: policy, flags: .awaitingHandOver)
    successor.takeOver(from: &self)
    return successor
  }

  /// The same for a mailbox by itself.
  mutating func begin(published: Int) -> Notification.Content? {
    guard attend(published: published), case .handle(let content) = proceed(published: published)
    else { return nil }
    return content
  }
}

extension Round {
  /// Claims the next subscription, as a worker does.
  func claim() -> Claim? { state.claim() }
}
