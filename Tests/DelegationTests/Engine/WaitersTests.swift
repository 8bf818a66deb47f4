import Synchronization
import Testing

@testable import Delegation

@Suite("Waiters: those who wait for handlers to end", .inTurn(.heavy))
struct WaitersTests {
  /// Who waits, and for what.
  struct Want {
    enum Goal {
      case rest
      case end(Int)
    }

    /// The handler that waits; `nil` for code outside of all handlers.
    var handler: Int?
    var goal: Goal
  }

  @Test("all waits of three handlers, nested in all ways, are fulfilled when they should be")
  func agreesWithSets() {
    var wants = 0
    for parts in Self.scenes {
      let scene = HandlerScene(parts, subscribers: 2)
      // Those that are shorter are the beginnings of these.
      for history in Self.histories where history.count == 3 {
        wants += history.count
        if let fault = compare(history, in: scene) {
          Issue.record("\(fault), wanting \(history), in \(parts)")
          return
        }
      }
    }
    #expect(wants > 50_000)
  }

  @Test("whoever waits for whomever, all go on, and none before it may")
  func noDeadlock() {
    for parts in Self.scenes {
      for history in Self.histories
      where history.count == 3 && history.allSatisfy({ $0.handler != nil }) {
        let scene = HandlerScene(parts, subscribers: 2)
        if let fault = live(history, in: scene) {
          Issue.record("\(fault), wanting \(history), in \(parts)")
          return
        }
      }
    }
  }

  @Test("a wait that is removed is not fulfilled, and one that was fulfilled cannot be removed")
  func removed() {
    let scene = HandlerScene([.init(node: 0)], subscribers: 1)
    var waits = Waiters()
    let tickets = (0..<3).map { _ in waits.makeTicket() }
    let outside = Want(handler: nil, goal: .rest)
    for ticket in tickets { _ = waits.add(wait(outside, ticket: ticket, in: scene)) }
    #expect(Set(tickets).count == 3)
    #expect(waits.giveUp(tickets[1])?.ticket == tickets[1])
    #expect(waits.giveUp(tickets[1]) == nil)
    #expect(waits.takeFulfilled().isEmpty)
    scene.end(0)
    #expect(waits.takeFulfilled().map(\.ticket) == [tickets[0], tickets[2]])
    #expect(waits.all.isEmpty)
    #expect(waits.giveUp(tickets[0]) == nil)
  }

  @Test("a wait that is given up before it has come does not come")
  func givenUpEarly() {
    let scene = HandlerScene([.init(node: 0)], subscribers: 1)
    var waits = Waiters()
    let tickets = (0..<3).map { _ in waits.makeTicket() }
    let outside = Want(handler: nil, goal: .rest)
    for ticket in [tickets[0], tickets[2]] { #expect(waits.giveUp(ticket) == nil) }
    let areAdded = tickets.map { waits.add(wait(outside, ticket: $0, in: scene)) }
    #expect(areAdded == [false, true, false])
    #expect(waits.all.map(\.ticket) == [tickets[1]])
  }

  @Test("code left behind by a handler that has returned waits as if outside")
  func leftBehind() {
    let scene = HandlerScene([.init(node: 0, isDelivery: true), .init(node: 1)], subscribers: 2)
    #expect(scene.contexts[0].chain.count == 1)
    scene.end(0)
    #expect(scene.contexts[0].chain.isEmpty)
    var waits = Waiters()
    _ = waits.add(wait(Want(handler: 0, goal: .rest), ticket: 1, in: scene))
    #expect(waits.takeFulfilled().isEmpty)
    scene.end(1)
    #expect(waits.takeFulfilled().count == 1)
  }

  @Test("a handler that has returned is not taken for the one that its worker runs next")
  func nextCall() {
    let subscriber = Nobody()
    let inbox = Inbox()
    defer { inbox.clear() }
    let nodes = [Structures.subscribe(subscriber, in: inbox)]
    let worker = Worker(for: nodes, caller: nil, inbox: inbox)
    let first = HandlerContext(worker: worker, call: worker.begin(at: 0))
    #expect(first.node === nodes[0])
    #expect(first.call == 1)
    worker.end()
    #expect(first.node == nil)
    let second = HandlerContext(worker: worker, call: worker.begin(at: 0))
    #expect(first.node == nil)
    #expect(second.node === nodes[0])
  }

  @Test("a handler of a vote that was decided waits for the one that called the vote")
  func decided() {
    let scene = HandlerScene([.init(node: 0), .init(node: 1, parent: 0)], subscribers: 2)
    #expect(scene.contexts[1].chain.map { $0.node === scene.nodes[0] } == [false, true])
    var waits = Waiters()
    _ = waits.add(wait(Want(handler: 1, goal: .end(0)), ticket: 1, in: scene))
    scene.decideVote(of: 1)
    #expect(waits.takeFulfilled().isEmpty)
    scene.end(0)
    #expect(waits.takeFulfilled().count == 1)
  }

  @Test("of a circle through two hubs, the wait that came last gives way, and no other")
  func twoHubs() {
    let scenes = (0..<3).map { _ in HandlerScene([.init(node: 0)], subscribers: 1) }
    var waits = Waiters()
    // Each one's handler waits for the next one's hub; the third one's for itself only.
    for (waiting, awaited) in [(0, 1), (2, 2), (1, 0)] {
      let goal = Waiters.Goal.rest(of: scenes[awaited].inbox)
      let context = scenes[waiting].contexts[0]
      _ = waits.add(.init(ticket: waiting, goal: goal, context: context) { _ in })
    }
    #expect(waits.concerns(scenes[0].inbox) && waits.concerns(scenes[2].inbox))
    #expect(waits.takeFulfilled().map(\.ticket) == [2, 1])
    #expect(!waits.concerns(scenes[0].inbox) && waits.concerns(scenes[1].inbox))
    #expect(waits.takeFulfilled().isEmpty)
    scenes[1].end(0)
    #expect(waits.takeFulfilled().map(\.ticket) == [0])
  }

  @Test("a delivery waits for no answer, so whoever answers waits for the one that delivers")
  func deliveryAndAnswer() {
    let scene = HandlerScene([.init(node: 0, isDelivery: true), .init(node: 1)], subscribers: 2)
    let receipt = scene.postWithReceipt()
    var waits = Waiters()
    let context = scene.contexts[0]
    _ = waits.add(.init(ticket: 1, goal: .passing(of: receipt), context: context) { _ in })
    _ = waits.add(wait(Want(handler: 1, goal: .end(0)), ticket: 2, in: scene))
    #expect(waits.takeFulfilled().isEmpty)
    #expect(waits.giveUp(1) != nil)
    scene.end(0)
    #expect(waits.takeFulfilled().map(\.ticket) == [2])
  }

  // MARK: Histories

  /// All ways for three handlers and for code outside to come to wait, each at most once.
  private static let histories: [[Want]] = {
    var histories: [[Want]] = []
    var newest: [[Want]] = [[]]
    for _ in 0..<3 {
      var longer: [[Want]] = []
      for history in newest {
        for handler in [0, 1, 2, nil] where !history.contains(where: { $0.handler == handler }) {
          for goal in [Want.Goal.rest, .end(0), .end(1)] {
            longer.append(history + [Want(handler: handler, goal: goal)])
          }
        }
      }
      newest = longer
      histories += newest
    }
    return histories
  }()

  /// All scenes of three handlers of two subscribers, but for the subscribers' order.
  private static let scenes = HandlerScene.all(handlers: 3, subscribers: 2).filter {
    $0[0].node == 0
  }

  /// Lets them come to wait one after another, and compares who goes on with the model's.
  private func compare(_ history: [Want], in scene: HandlerScene) -> String? {
    var waits = Waiters()
    var waiting: [Int] = []
    let model = Model(scene)
    for (index, want) in history.enumerated() {
      _ = waits.add(wait(want, ticket: index, in: scene))
      let fulfilled = waits.takeFulfilled().map(\.ticket)
      let expected = (waiting + [index]).filter { ticket in
        let earlier = waiting.filter { $0 < ticket }
        return model.isFulfilled(history[ticket], after: earlier.map { history[$0] })
      }
      if fulfilled != expected { return "\(fulfilled) go on, expected \(expected)" }
      waiting = (waiting + [index]).filter { !expected.contains($0) }
    }
    return nil
  }

  /// Lets handlers end as soon as they can; then all waits are fulfilled.
  private func live(_ history: [Want], in scene: HandlerScene) -> String? {
    var waits = Waiters()
    for (index, want) in history.enumerated() {
      _ = waits.add(wait(want, ticket: index, in: scene))
    }
    var waiting = Set(history.indices)
    for _ in 0..<10 where scene.workers > 0 {
      for fulfilled in waits.takeFulfilled() { waiting.remove(fulfilled.ticket) }
      for handler in scene.parts.indices.reversed() where scene.isRunning[handler] {
        let isWaiting = waiting.contains { history[$0].handler == handler }
        let isAwaiting = scene.parts.indices.contains {
          scene.isRunning[$0] && scene.parts[$0].parent == handler
        }
        if !isWaiting, !isAwaiting { scene.end(handler) }
      }
    }
    if !waiting.isEmpty { return "\(waiting.sorted()) wait for ever" }
    return scene.workers == 0 ? nil : "handlers run for ever"
  }

  // MARK: The model

  /// Sets of handlers, as bits.
  private struct Model {
    var running: UInt = 0
    /// The handlers that stand still if a handler waits: itself, and those that await it.
    var chains: [UInt] = []
    /// The handlers of each subscriber.
    var handlers: [UInt] = [0, 0]

    init(_ scene: HandlerScene) {
      for (index, part) in scene.parts.enumerated() {
        let bit: UInt = 1 << index
        chains.append(bit | (part.parent.map { chains[$0] } ?? 0))
        handlers[part.node] |= bit
        if scene.isRunning[index] { running |= bit }
      }
    }

    func needed(_ want: Want) -> UInt {
      switch want.goal {
      case .rest: running
      case .end(let node): handlers[node] & running
      }
    }

    func isFulfilled(_ want: Want, after earlier: [Want]) -> Bool {
      // Those that stand still as long as this wait does.
      var still = want.handler.map { chains[$0] } ?? 0
      for _ in earlier {
        for other in earlier where needed(other) & still != 0 {
          still |= other.handler.map { chains[$0] } ?? 0
        }
      }
      return needed(want) & ~still == 0
    }
  }

  private func wait(_ want: Want, ticket: Int, in scene: HandlerScene) -> Waiters.Wait {
    let goal: Waiters.Goal =
      switch want.goal {
      case .rest: .rest(of: scene.inbox)
      case .end(let node): .end(of: scene.nodes[node])
      }
    let context = want.handler.map { scene.contexts[$0] }
    return Waiters.Wait(ticket: ticket, goal: goal, context: context) { _ in }
  }
}
