import Testing

import Delegation

/// The explorer finds nothing that its model does not object to.
@Suite("Explorer: what the model objects to", .inTurn)
struct ExplorerModelTests {
  private static let told = Script.Step(number: 1, operation: .notify(isAsynchronous: true))
  private static let toldLater = Script.Step(number: 2, operation: .notifyAndWait)
  private static let asked = Script.Step(number: 3, operation: .vote)
  private static let drained = Script.Step(number: 4, operation: .drain(ticks: nil))

  /// A model with one subscriber, to which two notifications are posted, and a vote.
  private func model() -> Model {
    var model = Model()
    model.open(0, .init())
    for step in [Self.told, Self.toldLater, Self.asked, Self.drained] {
      model.begin(step, in: 0, at: 0)
    }
    return model
  }

  /// The guarantee that something breaks.
  private func guarantee(brokenBy body: (inout Model) -> Void) -> Int? {
    var model = model()
    body(&model)
    return model.violation?.guarantee
  }

  @Test("what is as it should be is not objected to")
  func nothing() {
    #expect(
      guarantee { model in
        let first = model.startHandling(1, by: 0)
        model.endHandling(1, in: first ?? 0, throwing: false)
        let second = model.startHandling(2, by: 0)
        model.endHandling(2, in: second ?? 0, throwing: true)
        model.check(2, .nothing, at: 0)
        let third = model.startAnswering(3, by: 0)
        model.endAnswering(3, in: third ?? 0, answer: false, throwing: false)
        model.check(3, .verdict(false), at: 0)
        model.finish(3)
        model.check(4, .rest(true), at: 0)
        model.checkAccount(
          handled: 1, failed: 1, cancelled: 0, expired: 0, dropped: 0, waiting: 0)
      } == nil)
  }

  @Test("who was not subscribed is called")
  func snapshot() {
    #expect(
      guarantee { model in
        model.open(1, .init())
        _ = model.startHandling(1, by: 1)
      } == 1)
  }

  @Test("who was removed is called, or asked")
  func removal() {
    func end(_ model: inout Model) {
      model.startEnding(0)
      model.episodes[0].isEnded = true
    }
    #expect(
      guarantee {
        end(&$0); _ = $0.startHandling(1, by: 0)
      } == 2)
    #expect(
      guarantee {
        end(&$0); _ = $0.startAnswering(3, by: 0)
      } == 2)
  }

  @Test("notifications come in another order, twice, or two at a time")
  func order() {
    #expect(guarantee { _ = $0.startHandling(2, by: 0) } == 5)
    #expect(guarantee { for _ in 0..<2 { _ = $0.startHandling(1, by: 0) } } == 5)
    #expect(
      guarantee { model in
        _ = model.startHandling(1, by: 0)
        _ = model.startHandling(2, by: 0)
      } == 5)
  }

  @Test("a notification is left lying")
  func leftLying() {
    #expect(guarantee { $0.checkQuiescence(hanging: [], at: 0) } == 6)
  }

  @Test("somebody is asked after the decision")
  func early() {
    #expect(
      guarantee { model in
        model.open(1, .init())
        let episode = model.startAnswering(3, by: 0)
        model.endAnswering(3, in: episode ?? 0, answer: false, throwing: false)
        _ = model.startAnswering(3, by: 1)
      } == 9)
  }

  @Test("a vote passes that was denied, or is denied by nobody")
  func verdict() {
    #expect(guarantee { $0.check(3, .verdict(false), at: 0) } == 9)
    #expect(guarantee { $0.check(3, .failed, at: 0) } == 11)
    #expect(guarantee { $0.check(3, .verdict(true), at: 0) } == 1)
    #expect(
      guarantee { model in
        let episode = model.startAnswering(3, by: 0)
        model.endAnswering(3, in: episode ?? 0, answer: false, throwing: false)
        model.check(3, .verdict(true), at: 0)
      } == 9)
  }

  @Test("drain or notifyAndWait return too early")
  func tooEarly() {
    #expect(guarantee { $0.check(2, .nothing, at: 0) } == 14)
    #expect(guarantee { $0.check(4, .rest(true), at: 0) } == 14)
    #expect(guarantee { $0.check(4, .rest(false), at: 0) } == 14)
  }

  @Test("the account does not add up")
  func account() {
    #expect(
      guarantee {
        $0.checkAccount(
          handled: 0, failed: 0, cancelled: 0, expired: 0, dropped: 0, waiting: 2)
      } == 16)
    #expect(
      guarantee {
        $0.checkAccount(
          handled: 2, failed: 0, cancelled: 0, expired: 0, dropped: 0, waiting: 0)
      } == 16)
  }
}
