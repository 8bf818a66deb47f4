import Delegation
import Testing

private protocol Unbound: Sendable {}
private protocol Unbound2: Sendable {}

private struct ValueSubscriber: Unbound {}
private enum EnumSubscriber: Unbound, Unbound2, Error { case one }
private struct LargeSubscriber: Unbound { var words = (1, 2, 3, 4, 5) }
private struct WrappingSubscriber: Unbound { let object = ObjectSubscriber() }
private final class ObjectSubscriber: Unbound {}

/// What a generic function makes of a protocol that it knows by one of its subscribers.
private func subscribeByAnyType<P: Sendable>(_ subscriber: P, in hub: DelegateHub) {
  hub.subscribe(subscriber, to: P.self)
}

@Suite("subscribe: what cannot be subscribed", .inTurn)
struct MistakeTests {
  private final class Neither: Sendable {}

  /// A mistake that stops the program with a message that names it, and says what to do.
  enum Mistake: String, CaseIterable, Codable {
    case structure, enumeration, large, wrapper, error, held, aClass, noProtocol, noRoom
    case callOnAClass, delegatesOfAClass

    @available(*, deprecated)
    func make() {
      let hub = DelegateHub()
      switch self {
      case .structure: hub.subscribe(ValueSubscriber(), to: Unbound.self)
      case .enumeration: hub.subscribe(EnumSubscriber.one, to: (any Unbound & Unbound2).self)
      case .large: hub.subscribe(LargeSubscriber(), to: Unbound.self)
      case .wrapper: hub.subscribe(WrappingSubscriber(), to: Unbound.self)
      case .error: hub.subscribe(EnumSubscriber.one, to: (any Error).self)
      case .held: hub.subscribe("text", to: String.self, id: 1, hold: .strongly)
      case .aClass: subscribeByAnyType(Probe(), in: hub)
      case .noProtocol: hub.subscribe(Neither(), toEachOf: Listener.self, Bystander.self)
      case .noRoom: hub.subscribe(Probe(), to: Listener.self, mailbox: .dropOldest(limit: 0))
      case .callOnAClass: hub[Probe.self].notify { $0.log.record(1) }
      case .delegatesOfAClass: _ = Delegates<Probe>()
      }
    }

    var message: [String] {
      let value = ["is a value type, and only an object can be a subscriber", "Make it a class"]
      let reach = [
        "a call names Probe, which is a class", "Name the protocol that the subscribers",
      ]
      return switch self {
      case .structure: ["ValueSubscriber "] + value
      case .enumeration, .error: ["EnumSubscriber "] + value
      case .large: ["LargeSubscriber "] + value
      case .wrapper: ["WrappingSubscriber "] + value
      case .held: ["String "] + value
      case .aClass: ["MistakeTests.swift", "Probe is a class", "Name the protocol itself"]
      case .noProtocol: ["Neither conforms to none of the protocols (Listener, Bystander)"]
      case .noRoom: ["a mailbox with a limit of 0 could hold nothing"]
      case .callOnAClass, .delegatesOfAClass: reach
      }
    }
  }

  @Test("a mistake stops the program, which says what and where", arguments: Mistake.allCases)
  @available(*, deprecated)
  func mistakes(mistake: Mistake) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [mistake] in
      mistake.make()
    }
    for part in mistake.message { #expect(said(result, part)) }
  }

  @Test("a value that unsubscribes was never subscribed; a protocol may be a parameter")
  func others() {
    let (hub, object, probe) = (DelegateHub(), ObjectSubscriber(), Probe())
    let subscription = hub.subscribe(object, to: Unbound.self)
    hub[Unbound.self].unsubscribe(ValueSubscriber())
    #expect(subscription.isActive)
    func subscribe<P: Sendable>(_ subscriber: P, to protocol: P.Type) {
      hub.subscribe(subscriber, to: `protocol`)
    }
    subscribe(probe, to: Listener.self)
    #expect(!hub[Listener.self].isEmpty)
  }
}
