import Testing

/// The explorer finds nothing that its model does not object to.
@Suite("Explorer: what the model objects to", .inTurn)
struct ExplorerModelTests {
  /// Something that breaks a guarantee, in a model with one subscriber and one line, to which two notifications and
  /// two events are posted, and with a vote.
  private struct Breach: Sendable {
    /// The guarantee; `nil` if none is broken.
    let guarantee: Int?
    let what: String
    let body: @Sendable (inout Model) -> Void

    init(_ guarantee: Int?, _ what: String, _ body: @escaping @Sendable (inout Model) -> Void) {
      (self.guarantee, self.what, self.body) = (guarantee, what, body)
    }
  }

  private static func model() -> Model {
    var model = Model()
    model.open(0, .init())
    _ = model.openLine(9, in: 0)
    let operations: [Script.Operation] = [
      .notify(isAsynchronous: true), .notifyAndWait(leaving: 0), .vote, .drain(ticks: nil), .post,
      .postAndWait,
    ]
    for (number, operation) in operations.enumerated() {
      model.begin(.init(number: number + 1, operation: operation), in: 0, at: 0)
    }
    return model
  }

  private static let told = Model.Outcome.told(addressed: 1, handled: 0, failed: 1, missed: 0)

  private static func handle(_ model: inout Model) {
    for number in 1...2 {
      let episode = model.startHandling(number, by: 0)
      model.endHandling(number, in: episode ?? 0, throwing: number == 2)
    }
    model.ask(0)
    for event in [5, 6] {
      model.take(event, from: 0)
      model.ask(0)
    }
  }

  private static func deny(_ model: inout Model) {
    let episode = model.startAnswering(3, by: 0)
    model.endAnswering(3, in: episode ?? 0, answer: false, throwing: false)
  }

  private static func account(_ model: inout Model, handled: Int, failed: Int, waiting: Int) {
    model.checkAccount(
      handled: handled, failed: failed, cancelled: 0, expired: 0, dropped: 0, waiting: waiting)
  }

  private static let breaches = [
    Breach(nil, "all is as it should be") { model in
      handle(&model)
      model.check(2, told, at: 0)
      model.check(6, .nothing, at: 0)
      deny(&model)
      model.check(3, .verdict(false), at: 0)
      model.finish(3)
      model.check(4, .rest(true), at: 0)
      account(&model, handled: 1, failed: 1, waiting: 0)
      model.checkLines(2, 0)
      model.demand = true
      model.checkDemand()
    },
    Breach(0, "demand is not known") { $0.checkDemand() },
    Breach(1, "who was not subscribed is called") {
      $0.open(1, .init())
      _ = $0.startHandling(1, by: 1)
    },
    Breach(1, "a line gets what was not posted to it") { $0.take(7, from: 0) },
    Breach(1, "a vote passes, and somebody was not asked") { $0.check(3, .verdict(true), at: 0) },
    Breach(2, "who was removed is called") {
      $0.startEnding(0)
      $0.episodes[0].isEnded = true
      _ = $0.startHandling(1, by: 0)
    },
    Breach(2, "who was removed is asked") {
      $0.startEnding(0)
      $0.episodes[0].isEnded = true
      _ = $0.startAnswering(3, by: 0)
    },
    Breach(2, "a line ends of itself") { $0.take(nil, from: 0) },
    Breach(5, "notifications come in another order") { _ = $0.startHandling(2, by: 0) },
    Breach(5, "one comes twice") { for _ in 0..<2 { _ = $0.startHandling(1, by: 0) } },
    Breach(5, "two come at once") { for number in 1...2 { _ = $0.startHandling(number, by: 0) } },
    Breach(5, "events come in another order") { $0.take(6, from: 0) },
    Breach(6, "a notification is left lying") { $0.checkQuiescence(hanging: [], at: 0) },
    Breach(6, "an event is left lying") {
      handle(&$0)
      $0.ask(0)
      $0.lines[0].passed = 0
      $0.checkQuiescence(hanging: [], at: 0)
    },
    Breach(6, "a finished line ends too early") {
      $0.finishLines()
      $0.take(nil, from: 0)
    },
    Breach(9, "somebody is asked after the decision") {
      $0.open(1, .init())
      deny(&$0)
      _ = $0.startAnswering(3, by: 1)
    },
    Breach(9, "a vote is denied by nobody") { $0.check(3, .verdict(false), at: 0) },
    Breach(9, "a vote passes that was denied") {
      deny(&$0)
      $0.check(3, .verdict(true), at: 0)
    },
    Breach(11, "a vote fails, and no handler did") { $0.check(3, .failed, at: 0) },
    Breach(13, "a place is asked twice") {
      $0.open(1, .init())
      _ = $0.startAnswering(3, by: 1)
      $0.succeed(1, by: 2)
      _ = $0.startAnswering(3, by: 2)
    },
    Breach(14, "a poster returns too early") {
      $0.check(2, .told(addressed: 1, handled: 0, failed: 0, missed: 0), at: 0)
    },
    Breach(14, "a poster of an event returns too early") { $0.check(6, .nothing, at: 0) },
    Breach(14, "a drain returns too early") { $0.check(4, .rest(true), at: 0) },
    Breach(14, "a drain gives up") { $0.check(4, .rest(false), at: 0) },
    Breach(16, "something waits when all is over") {
      account(&$0, handled: 0, failed: 0, waiting: 2)
    },
    Breach(16, "more was handled than was") { account(&$0, handled: 2, failed: 0, waiting: 0) },
    Breach(16, "an outcome does not add up") {
      handle(&$0)
      $0.check(2, .told(addressed: 1, handled: 1, failed: 0, missed: 0), at: 0)
    },
    Breach(16, "events are counted that nobody took") { $0.checkLines(1, 0) },
  ]

  @Test("it objects to each breach of a guarantee, and to nothing else")
  func breaches() {
    for breach in Self.breaches {
      var model = Self.model()
      breach.body(&model)
      #expect(
        model.violation?.guarantee == breach.guarantee,
        "\(breach.what): \(model.violation?.text ?? "")")
    }
  }
}
