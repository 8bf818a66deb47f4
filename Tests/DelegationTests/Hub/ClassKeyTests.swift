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

@Suite("Keys are protocols", .inTurn)
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

  /// Calls on a class.
  enum Call: String, CaseIterable, Codable {
    case notify, notifyAndWait, vote, voteInPlace, askWithin, collect, askInTurn, pass
    case delegates, hasSubscribers

    func callAsFunction(_ hub: DelegateHub) async {
      switch self {
      case .notify: hub[Probe.self].notify() { $0.log.record(1) }
      case .notifyAndWait: _ = await hub[Probe.self].notifyAndWait() { $0.log.record(1) }
      case .vote:
        _ = await hub[Probe.self].vote() { _ in
          await Task.yield()
          return false
        }
      case .voteInPlace: _ = await hub[Probe.self].vote() { _ in false }
      case .askWithin:
        _ = await hub[Probe.self].ask(combining: .sum(), absent: .abstains) { _ in 1 }
      case .collect: _ = await hub[Probe.self].collect() { _ in 1 }
      case .askInTurn: _ = await hub[Probe.self].askInTurn() { _ in 1 }
      case .pass: _ = await hub[Probe.self].pass(1) { $1 + 1 }
      case .delegates: _ = hub[Probe.self]
      case .hasSubscribers: _ = (!hub[Probe.self].isEmpty)
      }
    }
  }

  @Test("a call on a class, which would reach nobody, stops it as well", arguments: Call.allCases)
  func calls(call: Call) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [call] in
      await call(DelegateHub())
    }
    #expect(said(result, "a call names Probe, which is a class"))
    #expect(said(result, "Name the protocol that the subscribers subscribed to"))
  }

  @Test("generic code that takes the protocol as a parameter works")
  func generic() async {
    func subscribe<P: Sendable>(_ subscriber: P, to protocol: P.Type, in hub: DelegateHub) {
      hub.subscribe(subscriber, to: `protocol`)
    }
    let hub = DelegateHub()
    let probe = Probe()
    subscribe(probe, to: Listener.self, in: hub)
    #expect((!hub[Listener.self].isEmpty))
  }
}
