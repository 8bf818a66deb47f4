import Testing

@testable import Delegation

@Suite("Failures of handlers of notifications", .inTurn)
struct FailureReportTests {
  /// A hub that writes down the failures it reports.
  private func makeStage() -> (stage: Stage, reported: Recorder<String>) {
    let reported = Recorder<String>()
    let stage = Stage { configuration in
      configuration.on(.failed) { reported.record("\($0.subscriber) of \($0.site): \($0.reason)") }
    }
    return (stage, reported)
  }

  @Test("a failure is reported though its subscriber leaves or dies meanwhile")
  func leavingMeanwhile() {
    let (stage, reported) = makeStage()
    let gate = Gate()
    var mortal: Probe? = Probe("mortal")
    let leaves = Probe("leaves")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self, fileID: "mortal", line: 1) }
    let subscription = stage.hub.subscribe(leaves, to: Listener.self, fileID: "leaves", line: 2)
    stage.hub[Listener.self].notify() { _ in
      await gate.pass()
      throw Refusal(reason: "late")
    }
    stage.run()
    mortal = nil
    subscription.cancel()
    stage.open(gate)
    #expect(
      reported.history.sorted() == [
        "DelegationTests.Probe of leaves:2: late", "DelegationTests.Probe of mortal:1: late",
      ])
  }

  @Test("what voters throw is reported if `absent:` swallows it, and otherwise goes to the caller")
  func voters() async {
    let (stage, reported) = makeStage()
    let probes = stage.cast(3)
    let outcomes = stage.perform { hub in
      [
        (try? await hub[Listener.self].vote() { _ in throw Refusal() }) == nil,
        await hub[Listener.self].vote(absent: .abstains) { _ in throw Refusal() },
        await hub[Listener.self].collect() { _ in throw Refusal() }.count == 3,
        (try? await hub[Listener.self].askInTurn() { _ -> Int? in throw Refusal() }) == nil,
        (try? await hub[Listener.self].pass(0) { _, _ -> Int? in throw Refusal() }) == nil,
      ]
    }
    #expect(outcomes == [true, true, true, true, true])
    #expect(reported.history.count == 3)
    let questions = stage.statistics?.protocols.first?.subscribers.map(\.questions.failed)
    // Of the first vote, of askInTurn and of pass only the first was asked.
    #expect(questions == [5, 2, 2])
    withExtendedLifetime(probes) {}
  }

  @Test("onIncident may call the hub, what it posts included")
  func callingTheHub() {
    let hub = Lock<DelegateHub?>(nil)
    defer { hub.withLock { $0 = nil } }
    let stage = Stage { configuration in
      configuration.onIncident = { _ in
        hub.withLock { $0 }?[Listener.self].notify() { $0.log.record(2) }
        hub.withLock { $0 }?.unsubscribeAll(from: Bystander.self)
      }
    }
    hub.withLock { $0 = stage.hub }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    let subscription = stage.hub.subscribe(probe, to: Bystander.self)
    stage.hub[Listener.self].notify() { probe in
      probe.log.record(1)
      throw Refusal()
    }
    stage.run()
    #expect(probe.log.history == [1, 2])
    #expect(!subscription.isActive)
  }

  @Test("by default a failure is one line on standard error")
  func standardErrorByDefault() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self, id: 7, fileID: "Shop/Cart.swift", line: 12)
      hub[Listener.self].notify() { _ in throw Refusal(reason: "two\nlines") }
      hub[Listener.self].notify() { _ in }
      await hub.drain()
      withExtendedLifetime(probe) {}
    }
    // One line, whatever the error's text.
    #expect(
      standardError(of: result)
        == "DelegateHub: DelegationTests.Probe (7), subscribed to DelegationTests.Listener at "
        + "Shop/Cart.swift:12, failed in notify: Refusal(reason: \"two\\nlines\")\n")
  }

  @Test("it is one line though the error's text has several")
  func oneLine() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self, fileID: "Shop/Cart.swift", line: 12)
      hub[Listener.self].notify() { _ in throw Verbose() }
      await hub.drain()
      withExtendedLifetime(probe) {}
    }
    #expect(
      standardError(of: result)
        == "DelegateHub: DelegationTests.Probe, subscribed to DelegationTests.Listener at "
        + "Shop/Cart.swift:12, failed in notify: a b\n")
  }

  struct Verbose: Error, CustomStringConvertible {
    var description: String { "a\nb" }
  }
}
