import Testing

@testable import Delegation

/// A global actor beside the main one, on a queue of its own.
@globalActor
private actor Backstage {
  static let shared = Backstage()
  private nonisolated let executor = DispatchQueueExecutor(MarkedQueue.make("backstage"))
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

@Backstage
private func isBackstage(_ probe: any Listener) -> Bool { MarkedQueue.current == "backstage" }

/// What handlers on their way to the main actor run in.
private enum Setting: CaseIterable, Sendable {
  case plain, executor, interceptor, conforming

  var hub: DelegateHub {
    DelegateHub(
      .init(
        executor: self == .executor ? ThreadPool(threads: 2) : nil, onIncident: { _ in },
        interceptors: self == .interceptor ? [Hook { await $1() }] : []))
  }

  func delegates(of hub: DelegateHub) -> Delegates<any Listener> {
    self == .conforming
      ? hub[Bystander.self].conforming(to: Listener.self) : hub[Listener.self]
  }
}

@Suite("Closures that belong to an actor (A1, A2)", .inTurn)
struct IsolatedClosureTests {
  @Test(
    "whom the main actor has removed is not called there afterwards, and does not count",
    arguments: CallForm.allCases.filter(\.isOnMainActor), Setting.allCases)
  @MainActor
  private func removed(form: CallForm, setting: Setting) async {
    let hub = setting.hub
    let probe = Probe()
    let subscription = hub.subscribe(probe, toEachOf: Listener.self, Bystander.self)[
      setting == .conforming ? 1 : 0]
    let call = Task.detached { [delegates = setting.delegates(of: hub)] in
      await form(delegates) { $0.log.record(1) }
    }
    // The handler is on its way to the main actor, which this keeps.
    while true {
      let statistics = subscription.statistics
      if statistics.counts.handling + statistics.questions.answering > 0 { break }
      Threads.pause()
    }
    hub.unsubscribe(probe)
    let empty = await form(DelegateHub()[Listener.self]) { _ in }
    #expect(await call.value == empty)
    #expect(probe.log.history == [])
    await hub.drain()
    #expect(subscription.statistics.questions.asked == 0)
    #expect(subscription.statistics.counts.handled == 0)
  }

  @Test("a quorum counts who has really answered", arguments: [false, true])
  @MainActor
  func quorum(isDirect: Bool) async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    let rule = BooleanRule.unanimous(ofAtLeast: 3)
    let vote = Task.detached {
      isDirect
        ? await hub[Listener.self].vote(by: rule, absent: .counts(as: false)) { @MainActor _ in true
        }
        : await hub[Listener.self].vote(by: rule) { @MainActor _ in true }
    }
    while !subscriptions.allSatisfy({ $0.statistics.questions.answering > 0 }) { Threads.pause() }
    subscriptions[1].cancel()
    #expect(await !vote.value)
  }

  @Test("what the deadline has decided does not begin on the actor any more")
  @MainActor
  func late() async {
    let clock = ManualClock()
    let hub = DelegateHub(.init(clock: clock, onIncident: { _ in }))
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    let results = Recorder<String>()
    func decide(_ call: @escaping @Sendable () async -> String) async {
      let count = results.count
      let task = Task.detached {
        let sleeper = Task.detached {
          await clock.waitForSleepers(1)
          while subscription.statistics.questions.answering == 0 { await Task.yield() }
          clock.advance(by: .seconds(1))
        }
        results.record(await call())
        await sleeper.value
      }
      // The main actor is kept until the call has returned, at its deadline.
      while results.count == count { Threads.pause() }
      await task.value
      await hub.drain()
    }
    await decide {
      await
        "\(hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { @MainActor in $0.log.record(1); return true })"
    }
    await decide {
      await
        "\(hub[Listener.self].collect(within: .seconds(1)) { @MainActor in $0.log.record(2) }.count)"
    }
    await decide {
      await
        "\(hub[Listener.self].askInTurn(within: .seconds(1), absent: .counts(as: 7)) { @MainActor in $0.log.record(3); return 1 } ?? 0)"
    }
    #expect(results.history == ["false", "1", "7"])
    #expect(probe.log.history == [])
    #expect(subscription.statistics.questions.late == 3)
  }

  @Test("closures and functions of any global actor run there, in every call")
  func otherActors() async throws {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let all = hub[Listener.self]
    let places = Recorder<String>()
    hub[Listener.self].notify() { @Backstage _ in places.record(MarkedQueue.current) }
    all.notify { @Backstage _ in places.record(MarkedQueue.current) }
    await hub[Listener.self].notifyAndWait() { @Backstage _ in places.record(MarkedQueue.current) }
    await all.notifyAndWait { @Backstage _ in places.record(MarkedQueue.current) }
    #expect(places.clear() == Array(repeating: "backstage", count: 12))
    #expect(await hub[Listener.self].vote(isBackstage))
    #expect(await all.vote(isBackstage))
    #expect(await hub[Listener.self].vote(absent: .counts(as: false), isBackstage))
    #expect(await all.vote(within: .seconds(60), absent: .counts(as: false), isBackstage))
    #expect(await hub[Listener.self].ask(combining: .all(), isBackstage) == [true, true, true])
    #expect(await all.ask(combining: .all(), absent: .abstains, isBackstage) == [true, true, true])
    for reply in await hub[Listener.self].collect(isBackstage) { #expect(try reply.result.get()) }
    #expect(await all.askInTurn { @Backstage in isBackstage($0) } == true)
    #expect(
      await hub[Listener.self].pass(1) { @Backstage in isBackstage($0) ? $1 + 1 : nil }
        == 4)
    #expect(
      await hub[Listener.self].pass(1, absent: .abstains) { @Backstage in
        isBackstage($0) ? $1 + 1 : nil
      } == 4)
    do throws(Refusal) {
      _ = try await all.vote { @Backstage _ throws(Refusal) in throw Refusal(reason: "typed") }
      Issue.record("it did not throw")
    } catch {
      #expect(error.reason == "typed")
    }
  }

  @Test("a closure that awaits nothing is taken off no thread: plain, each answers in its turn")
  func plain() async {
    let hub = DelegateHub()
    let probes = Probe.many(4)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let replies = await hub[Listener.self].collect() { probe in
      if probe.name == "2" { throw Refusal(reason: "two") }
      return probe.name
    }
    #expect(replies.map { (try? $0.result.get()) ?? "none" } == ["0", "1", "none", "3"])
    #expect(
      await hub[Listener.self].ask(combining: .all(), absent: .counts(as: "x")) { probe in
        if probe.name == "2" { throw Refusal(reason: "two") }
        return probe.name
      } == ["0", "1", "x", "3"])
    #expect(await hub[Listener.self].askInTurn() { $0.name == "2" ? $0.name : nil } == "2")
    #expect(await hub[Listener.self].pass("") { $1 + $0.name } == "0123")
  }
}
