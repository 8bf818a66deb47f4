import Testing

@testable import Delegation

@Suite("Bad input stops the program with a message that names it", .inTurn)
struct BadInputTests {
  @Test("a structure as a subscriber")
  func structure() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        DelegateHub().subscribe(ValueSubscriber(), to: Unbound.self)
      })
    expect(result.standardErrorContent, names: "ValueSubscriber")
  }

  @Test("an enumeration as a subscriber, to a composition")
  func enumeration() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        DelegateHub().subscribe(EnumSubscriber.one, to: (any Unbound & Unbound2).self)
      })
    expect(result.standardErrorContent, names: "EnumSubscriber")
  }

  @Test("a structure that is too large for an existential's buffer")
  func large() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        DelegateHub().subscribe(LargeSubscriber(), to: Unbound.self)
      })
    expect(result.standardErrorContent, names: "LargeSubscriber")
  }

  @Test("a structure that holds nothing but an object")
  func wrapper() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        DelegateHub().subscribe(WrappingSubscriber(), to: Unbound.self)
      })
    expect(result.standardErrorContent, names: "WrappingSubscriber")
  }

  @Test("an error that is a value")
  func error() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        DelegateHub().subscribe(EnumSubscriber.one, to: (any Error).self)
      })
    expect(result.standardErrorContent, names: "EnumSubscriber")
  }

  @Test("a value held strongly, and as the type that it has")
  func held() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        DelegateHub().subscribe("text", to: String.self, id: 1, hold: .strongly)
      })
    expect(result.standardErrorContent, names: "String")
  }

  @Test("a value that unsubscribes was never subscribed, and nothing stops")
  func unsubscribing() async {
    let hub = DelegateHub()
    let object = ObjectSubscriber()
    let subscription = hub.subscribe(object, to: Unbound.self)
    hub.unsubscribe(ValueSubscriber(), from: Unbound.self)
    #expect(subscription.isActive)
    #expect(hub[Unbound.self].count == 1)
  }

  private func expect(_ standardError: [UInt8], names type: String) {
    let message = String(decoding: standardError, as: UTF8.self)
    #expect(message.contains(type))
    #expect(message.contains("BadInputTests.swift"))
    // What to do about it.
    #expect(message.contains("class"))
  }
}

private protocol Unbound: Sendable {}
private protocol Unbound2: Sendable {}

private struct ValueSubscriber: Unbound {}
private enum EnumSubscriber: Unbound, Unbound2, Error { case one }
private struct LargeSubscriber: Unbound { var words = (1, 2, 3, 4, 5) }
private struct WrappingSubscriber: Unbound { let object = ObjectSubscriber() }
private final class ObjectSubscriber: Unbound {}
