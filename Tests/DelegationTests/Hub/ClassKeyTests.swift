import Testing

@testable import Delegation

/// What a generic function makes of a protocol that it knows by one of its subscribers.
@available(*, deprecated)
private func subscribeByItsOwnType<T: Listener>(_ subscriber: T, in hub: DelegateHub) {
  hub.subscribe(subscriber, to: T.self)
}

/// The same, where the compiler cannot know that it is a class.
private func subscribeByAnyType<P: Sendable>(_ subscriber: P, in hub: DelegateHub) {
  hub.subscribe(subscriber, to: P.self)
}

@Suite("Keys are protocols (L20)", .inTurn)
struct ClassKeyTests {
  @Test("subscribing to a class stops the program with a message that says what to write")
  @available(*, deprecated)
  func aClass() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      hub.subscribe(Probe(), to: Probe.self)
    }
    #expect(said(result, "ClassKeyTests.swift"))
    #expect(said(result, "Probe is a class"))
    #expect(said(result, "Name the protocol itself"))
  }

  @Test("so does a generic parameter that stands for one")
  @available(*, deprecated)
  func aParameter() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      subscribeByItsOwnType(Probe(), in: DelegateHub())
    }
    #expect(said(result, "Probe is a class"))
  }

  @Test("so does one that is given as a metatype, which the compiler cannot see")
  func anyType() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      subscribeByAnyType(Probe(), in: DelegateHub())
    }
    #expect(said(result, "Probe is a class"))
  }

  @Test("a call on a class reaches nobody, as with nobody subscribed, and the compiler says so")
  @available(*, deprecated)
  func calls() async throws {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub.notify(Probe.self) { $0.log.record(1) }
    hub.notify(Probe.self) { probe in
      await Task.yield()
      probe.log.record(1)
    }
    #expect(await hub.notifyAndWait(Probe.self) { $0.log.record(1) }.isEmpty)
    #expect(await hub.vote(Probe.self) { _ in false })
    #expect(await hub.vote(Probe.self, absent: .counts(as: false)) { _ in false })
    #expect(await hub.ask(Probe.self, combining: .sum()) { _ in 1 } == 0)
    #expect(await hub.ask(Probe.self, combining: .sum(), absent: .abstains) { _ in 1 } == 0)
    #expect(await hub.collect(Probe.self) { _ in 1 }.isEmpty)
    #expect(await hub.askInTurn(Probe.self) { _ in 1 } == nil)
    #expect(await hub.askInTurn(Probe.self, absent: .abstains) { _ in 1 } == nil)
    #expect(await hub.pass(1, through: Probe.self) { $1 + 1 } == 1)
    #expect(await hub.pass(1, through: Probe.self, absent: .abstains) { $1 + 1 } == 1)
    #expect(hub.delegates(Probe.self).isEmpty)
    #expect(Delegates<Probe>(of: hub).isEmpty)
    #expect(probe.log.history == [])
  }

  @Test("generic code that takes the protocol as a parameter works")
  func generic() async {
    func subscribe<P: Sendable>(_ subscriber: P, to protocol: P.Type, in hub: DelegateHub) {
      hub.subscribe(subscriber, to: `protocol`)
    }
    let hub = DelegateHub()
    let probe = Probe()
    subscribe(probe, to: Listener.self, in: hub)
    #expect(hub.hasSubscribers(of: Listener.self))
  }
}
