@testable import Delegation

/// Handlers that run, as the library's bookkeeping has it, without a task in sight.
///
/// Some are those of notifications, some answer a vote; a vote may have been called from another
/// handler.
final class HandlerScene {
  /// What one handler is.
  struct Part: Hashable {
    /// Which subscriber's it is.
    var node: Int
    /// The handler that awaits the vote that this one answers.
    var parent: Int?
    /// Whether it handles a notification.
    var isDelivery = false
  }

  let parts: [Part]
  let nodes: [SubscriptionNode]
  private(set) var isRunning: [Bool]
  private(set) var contexts: [HandlerContext] = []
  private var origins: [Caller?] = []
  let board = Switchboard()
  private let subscribers: [Nobody]
  /// Who waits, in this scene and in others.
  let waits: HandlerWaits

  init(_ parts: [Part], subscribers count: Int, waits: HandlerWaits = HandlerWaits()) {
    self.parts = parts
    self.waits = waits
    subscribers = (0..<count).map { _ in Nobody() }
    nodes = subscribers.map { [board] in Structures.subscribe($0, in: board) }
    isRunning = parts.map { _ in false }
    for index in parts.indices { begin(index) }
  }

  deinit {
    // A mailbox that is attended keeps what it has.
    for index in parts.indices where isRunning[index] { end(index) }
    board.clear()
  }

  /// How many handlers run: each has a worker to itself.
  var workers: Int { board.activity.workers.value }

  /// Posts a notification that somebody waits for.
  func postWithReceipt() -> Receipt {
    let receipt = Receipt()
    var content = Structures.content()
    content.receipt = receipt
    post(content)
    return receipt
  }

  /// Nobody comes when something is posted: this scene begins the handlers itself.
  private func post(_ content: Notification.Content) {
    if board.post(content, to: Structures.key) { board.activity.end() }
  }

  private func begin(_ index: Int) {
    let part = parts[index]
    let parent = part.parent.map { contexts[$0] }
    let caller = HandlerContext.binding.withValue(parent) { part.isDelivery ? nil : Caller.present }
    let worker = Worker(activity: board.activity, caller: caller)
    board.activity.begin()
    if part.isDelivery {
      post(Structures.content())
      guard nodes[part.node].begin() != nil else { fatalError("two deliveries at once") }
    } else {
      guard nodes[part.node].beginCall() else { fatalError("a subscription that is closed") }
    }
    contexts.append(context(of: part, as: worker))
    origins.append(caller)
    isRunning[index] = true
  }

  /// The context of a handler that begins: that of a vote is the one that its worker is in.
  private func context(of part: Part, as worker: Worker) -> HandlerContext {
    let node = nodes[part.node]
    if part.isDelivery { return HandlerContext(worker: worker, call: worker.begin(), node: node) }
    worker.begin(node)
    let present = HandlerContext.binding.withValue(HandlerContext(asking: worker)) {
      HandlerContext.current
    }
    guard let present else { fatalError("a handler that does not run") }
    return present
  }

  /// A delivery goes on to a notification that is posted now, past all before it.
  func goOn(_ index: Int) {
    let node = nodes[parts[index].node]
    post(Structures.content())
    while node.contents.withLock({ $0.mailbox.handledNumber }) != node.published - 1 {
      let next = content(of: node.advance(after: .handled)) ?? node.begin()
      if next == nil { fatalError("nothing is posted") }
    }
    board.takeRequested()
  }

  /// Decides the vote that a handler answers: nobody awaits that handler any more.
  func decideVote(of index: Int) {
    origins[index]?.clear()
  }

  /// The handler returns.
  func end(_ index: Int) {
    let node = nodes[parts[index].node]
    let worker = contexts[index].worker
    worker.end()
    isRunning[index] = false
    board.activity.end()
    guard parts[index].isDelivery else { return node.endCall() }
    // What else was posted is handled at once, if need be by a worker that comes by for it.
    var next = content(of: node.advance(after: .handled)) ?? node.begin()
    while let handled = next {
      next = content(of: node.advance(after: .handled)) ?? node.begin()
      handled.receipt?.pass()
    }
    board.takeRequested()
  }

  private func content(of step: Mailbox.Step) -> Notification.Content? {
    if case .handle(let content) = step { content } else { nil }
  }

  /// All scenes of that many handlers and subscribers.
  static func all(handlers: Int, subscribers: Int) -> [[Part]] {
    if handlers == 0 { return [[]] }
    return all(handlers: handlers - 1, subscribers: subscribers).flatMap { parts in
      (0..<subscribers).flatMap { node in
        let parents = [nil] + parts.indices.map(Optional.some)
        var more = parents.map { parts + [Part(node: node, parent: $0)] }
        if !parts.contains(where: { $0.isDelivery && $0.node == node }) {
          more.append(parts + [Part(node: node, isDelivery: true)])
        }
        return more
      }
    }
  }
}
