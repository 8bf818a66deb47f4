import Synchronization
import Testing

@testable import Delegation

@Suite("WaitGraph: who waits for whom within handlers, and who goes on", .inTurn(.heavy))
struct WaitGraphTests {
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
    for (parts, history) in some(of: Self.cases, oneIn: 5) {
      if let fault = compare(history, in: HandlerScene(parts, subscribers: 2)) {
        Issue.record("\(fault), wanting \(history), in \(parts)")
        return
      }
    }
    #expect(Self.cases.count > 16_000)
  }

  @Test("whoever waits for whomever, all go on, and none before it may")
  func noDeadlock() {
    let cases = Self.cases.filter { $0.1.allSatisfy { $0.handler != nil } }
    for (parts, history) in some(of: cases, oneIn: 5) {
      if let fault = live(history, in: HandlerScene(parts, subscribers: 2)) {
        Issue.record("\(fault), wanting \(history), in \(parts)")
        return
      }
    }
  }

  @Test("a wait that is given up does not go on, and one that went on cannot be given up")
  func givenUp() {
    let scene = HandlerScene([.init(node: 0)], subscribers: 1)
    let waits = scene.waits
    for ticket in 0..<3 { begin(Want(handler: nil, goal: .rest), as: ticket, in: scene) }
    #expect(waits.giveUp(1))
    #expect(!waits.giveUp(1))
    #expect(waits.takeFulfilled() == [])
    scene.end(0)
    #expect(waits.takeFulfilled() == [0, 2])
    #expect(!waits.giveUp(0))
    #expect(scene.board.activity.workers.isAwaited == false)
  }

  @Test("a wait within a handler that is given up holds up nobody, and leaves nothing")
  func givenUpWithin() {
    let scene = HandlerScene([.init(node: 0), .init(node: 1)], subscribers: 2)
    let waits = scene.waits
    begin(Want(handler: 0, goal: .end(1)), as: 0, in: scene)
    begin(Want(handler: 1, goal: .end(1)), as: 1, in: scene)
    #expect(waits.takeFulfilled() == [1])
    #expect(waits.count == 1)
    #expect(waits.giveUp(0))
    #expect(waits.count == 0)
    // The first one waits no longer: who waits for it has nothing to excuse.
    begin(Want(handler: 1, goal: .end(0)), as: 2, in: scene)
    #expect(waits.takeFulfilled() == [])
    scene.end(0)
    #expect(waits.takeFulfilled() == [2])
  }

  @Test("code left behind by a handler that has returned waits as if outside")
  func leftBehind() {
    let scene = HandlerScene([.init(node: 0, isDelivery: true), .init(node: 1)], subscribers: 2)
    #expect(scene.contexts[0].chain.count == 1)
    scene.end(0)
    #expect(scene.contexts[0].chain.isEmpty)
    begin(Want(handler: 0, goal: .rest), as: 1, in: scene)
    #expect(scene.waits.count == 0)
    #expect(scene.waits.takeFulfilled() == [])
    scene.end(1)
    #expect(scene.waits.takeFulfilled() == [1])
  }

  @Test(
    "a handler that returns while code it left behind waits is excused no longer",
    arguments: [Want.Goal.end(0), .rest])
  func leavingBehind(goal: Want.Goal) {
    // Two calls of one subscription: the second one's handler leaves somebody behind who waits.
    let scene = HandlerScene([.init(node: 0), .init(node: 0)], subscribers: 1)
    begin(Want(handler: 1, goal: goal), as: 1, in: scene)
    #expect(scene.waits.takeFulfilled() == [])
    scene.end(1)
    #expect(scene.waits.takeFulfilled() == [])
    scene.end(0)
    #expect(scene.waits.takeFulfilled() == [1])
  }

  @Test("a handler that has returned is not taken for the one that its worker runs next")
  func nextCall() {
    let subscriber = Nobody()
    let board = Switchboard()
    defer { board.clear() }
    let node = Structures.subscribe(subscriber, in: board)
    let worker = Worker(activity: board.activity, caller: nil)
    let first = HandlerContext(worker: worker, call: worker.begin(), node: node)
    #expect(first.isRunning)
    #expect(first.call == 1)
    worker.end()
    #expect(!first.isRunning)
    let second = HandlerContext(worker: worker, call: worker.begin(), node: node)
    #expect(!first.isRunning)
    #expect(second.isRunning)
  }

  @Test("its calls are told apart after more than a word of 32 bits can count")
  func manyCalls() {
    let subscriber = Nobody()
    let board = Switchboard()
    defer { board.clear() }
    let node = Structures.subscribe(subscriber, in: board)
    let worker = Worker(activity: board.activity, caller: nil)
    let first = HandlerContext(worker: worker, call: worker.begin(), node: node)
    worker.end()
    for count in [UInt64(1) << 31, 1 << 32, 1 << 33] {
      // As after that many calls: the next one has a number that was had before in fewer bits.
      worker.word.store(count << 1, ordering: .relaxed)
      #expect(worker.begin() == count + 1)
      #expect(!first.isRunning)
      worker.end()
    }
  }

  @Test("a handler of a vote that was decided waits for the one that called the vote")
  func decided() {
    let scene = HandlerScene([.init(node: 0), .init(node: 1, parent: 0)], subscribers: 2)
    #expect(scene.contexts[1].chain.map { $0.isHandler(of: scene.nodes[0]) } == [false, true])
    begin(Want(handler: 1, goal: .end(0)), as: 1, in: scene)
    #expect(scene.waits.takeFulfilled() == [1])
    scene.decideVote(of: 1)
    begin(Want(handler: 1, goal: .end(0)), as: 2, in: scene)
    #expect(scene.waits.takeFulfilled() == [])
    scene.end(0)
    #expect(scene.waits.takeFulfilled() == [2])
  }

  @Test("if the vote is decided while it waits, it waits for the one that called the vote as well")
  func decidedMeanwhile() {
    let parts: [HandlerScene.Part] = [.init(node: 0), .init(node: 1, parent: 0), .init(node: 2)]
    let scene = HandlerScene(parts, subscribers: 3)
    begin(Want(handler: 1, goal: .rest), as: 1, in: scene)
    #expect(scene.waits.takeFulfilled() == [])
    scene.decideVote(of: 1)
    scene.end(2)
    #expect(scene.waits.takeFulfilled() == [])
    scene.end(0)
    #expect(scene.waits.takeFulfilled() == [1])
  }

  @Test("of a circle through two hubs, the wait that came last gives way, and no other")
  func twoHubs() {
    let waits = HandlerWaits()
    let scenes = (0..<3).map { _ in HandlerScene([.init(node: 0)], subscribers: 1, waits: waits) }
    // Each one's handler waits for the next one's hub; the third one's for itself only.
    for (waiting, awaited) in [(0, 1), (2, 2), (1, 0)] {
      let goal = WaitGoal.rest(of: scenes[awaited].board.activity)
      waits.begin(waiting, goal, in: scenes[waiting].contexts[0])
    }
    #expect(waits.takeFulfilled() == [1, 2])
    #expect(scenes.map { $0.board.activity.workers.isAwaited } == [false, true, false])
    scenes[1].end(0)
    #expect(waits.takeFulfilled() == [0])
  }

  @Test("who waits for a notification waits for each delivery that has yet to pass it")
  func twoDeliveries() {
    let parts: [HandlerScene.Part] = [
      .init(node: 0, isDelivery: true), .init(node: 1, isDelivery: true), .init(node: 2),
    ]
    let scene = HandlerScene(parts, subscribers: 3)
    let receipt = scene.postWithReceipt()
    // So the second delivery alone has yet to pass it.
    scene.goOn(0)
    scene.waits.begin(1, .passing(of: receipt), in: scene.contexts[2])
    begin(Want(handler: 1, goal: .end(0)), as: 2, in: scene)
    #expect(scene.waits.takeFulfilled() == [])
    // It closes the circle: the first delivery, the handler, the second delivery.
    scene.waits.begin(3, .end(of: scene.nodes[2]), in: scene.contexts[0])
    #expect(scene.waits.takeFulfilled() == [3])
    #expect(scene.waits.giveUp(1))
    #expect(scene.waits.giveUp(2))
  }

  @Test("a delivery waits for no answer, so whoever answers waits for the one that delivers")
  func deliveryAndAnswer() {
    let scene = HandlerScene([.init(node: 0, isDelivery: true), .init(node: 1)], subscribers: 2)
    let receipt = scene.postWithReceipt()
    let waits = scene.waits
    waits.begin(1, .passing(of: receipt), in: scene.contexts[0])
    begin(Want(handler: 1, goal: .end(0)), as: 2, in: scene)
    #expect(waits.takeFulfilled() == [])
    #expect(waits.giveUp(1))
    scene.end(0)
    #expect(waits.takeFulfilled() == [2])
  }

  // MARK: Histories

  /// All ways for three of three handlers and code outside to come to wait, each at most once.
  ///
  /// Histories that are shorter are the beginnings of these.
  private static let histories: [[Want]] = {
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
    }
    return newest
  }()

  private static let cases = scenes.flatMap { parts in histories.map { (parts, $0) } }

  /// All scenes of three handlers of two subscribers, but for the subscribers' order.
  private static let scenes = HandlerScene.all(handlers: 3, subscribers: 2).filter {
    $0[0].node == 0
  }

  private func begin(_ want: Want, as ticket: Int, in scene: HandlerScene) {
    let goal: WaitGoal =
      switch want.goal {
      case .rest: .rest(of: scene.board.activity)
      case .end(let node): .end(of: scene.nodes[node])
      }
    scene.waits.begin(ticket, goal, in: want.handler.map { scene.contexts[$0] })
  }

  /// Lets them come to wait one after another, and compares who goes on with the model's.
  private func compare(_ history: [Want], in scene: HandlerScene) -> String? {
    var waiting: [Int] = []
    for (index, want) in history.enumerated() {
      begin(want, as: index, in: scene)
      waiting.append(index)
      if let fault = takeFulfilled(of: &waiting, in: history, of: scene) { return fault }
    }
    return nil
  }

  /// Lets handlers end as soon as they can; then all waits are fulfilled.
  private func live(_ history: [Want], in scene: HandlerScene) -> String? {
    var waiting = Array(history.indices)
    for (index, want) in history.enumerated() { begin(want, as: index, in: scene) }
    while scene.workers > 0 {
      if let fault = takeFulfilled(of: &waiting, in: history, of: scene) { return fault }
      let next = scene.parts.indices.last { handler in
        let isAwaiting = scene.parts.indices.contains {
          scene.isRunning[$0] && scene.parts[$0].parent == handler
        }
        return scene.isRunning[handler] && !isAwaiting
          && !waiting.contains { history[$0].handler == handler }
      }
      guard let next else { return "\(waiting) wait for ever" }
      scene.end(next)
    }
    if scene.waits.takeFulfilled() != waiting { return "not all go on at the end" }
    return scene.waits.count == 0 ? nil : "something is left"
  }

  /// Takes those out that go on, and compares them with those that the model lets go on.
  private func takeFulfilled(
    of waiting: inout [Int], in history: [Want], of scene: HandlerScene
  ) -> String? {
    let fulfilled = scene.waits.takeFulfilled()
    let model = Model(scene)
    let expected = waiting.filter { ticket in
      let earlier = waiting.filter { $0 < ticket }
      return model.isFulfilled(history[ticket], after: earlier.map { history[$0] })
    }
    if fulfilled != expected { return "\(fulfilled) go on, expected \(expected)" }
    waiting.removeAll(where: expected.contains)
    return nil
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
}
