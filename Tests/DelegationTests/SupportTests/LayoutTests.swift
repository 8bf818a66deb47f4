import Testing

@testable import Delegation

/// Subscribers of every layout, end to end.
@Suite("Subscribers of every layout", .inTurn)
struct LayoutTests {
  /// Subscribes some to a protocol, calls them in every way, and sees them die.
  private func check<P: Sendable>(
    _ protocol: P.Type, making make: (Int) -> P, _ number: @escaping @Sendable (P) async -> Int
  ) async {
    let hub = DelegateHub()
    var subscribers = (0..<3).map(make)
    let identities = subscribers.map { ObjectIdentifier(object(of: $0)) }
    let obituaries = subscribers.map { Obituary(of: object(of: $0)) }
    let subscriptions = subscribers.map { hub.subscribe($0, to: `protocol`) }
    // Often, so that a reference too many or too few each time cannot go unnoticed.
    for _ in 0..<100 {
      #expect(await hub[`protocol`].ask(combining: .all()) { await number($0) } == [0, 1, 2])
      let listed = hub[`protocol`].subscribers
      #expect(listed.map { ObjectIdentifier(object(of: $0)) } == identities)
    }
    let told = Recorder<ObjectIdentifier>()
    let numbers = Recorder<Int>()
    for _ in 0..<10 {
      hub[`protocol`].notify() { told.record(ObjectIdentifier(object(of: $0))) }
      hub[`protocol`].notify() { numbers.record(await number($0)) }
    }
    #expect(await hub.drain().isEmpty)
    for identity in identities { #expect(told.history.count { $0 == identity } == 10) }
    for value in 0..<3 { #expect(numbers.history.count { $0 == value } == 10) }
    #expect(hub.subscribe(subscribers[1], to: `protocol`) == subscriptions[1])
    hub.unsubscribe(subscribers[0], from: `protocol`)
    #expect(subscriptions.map(\.isActive) == [false, true, true])
    hub.unsubscribe(object(of: subscribers[1]))
    #expect(subscriptions.map(\.isActive) == [false, false, true])
    subscribers = []
    for obituary in obituaries { await obituary.death() }
    #expect(subscriptions.map(\.isActive) == [false, false, false])
    #expect(hub[`protocol`].count == 0)
  }

  @Test("a protocol that is bound to objects")
  func objectBound() async {
    await check(Numbered.self, making: { Everything($0) }, { $0.number })
  }

  @Test("a protocol that is not bound to objects")
  func unbound() async {
    await check(Countable.self, making: { Everything($0) }, { $0.count })
  }

  @Test("a composition of three protocols that are not bound to objects")
  func unboundComposition() async {
    await check(
      (any Countable & Nameable & Sizable).self, making: { Everything($0) },
      { $0.count + ($0.title.isEmpty ? 10 : 0) + $0.size })
  }

  @Test("a composition of a protocol that is bound to objects and two that are not")
  func boundComposition() async {
    await check(
      (any Numbered & Countable & Nameable).self, making: { Everything($0) },
      { ($0.number + $0.count) / 2 + ($0.title.isEmpty ? 10 : 0) })
  }

  @Test("a composition of a superclass and a protocol")
  func superclassComposition() async {
    await check(
      (any Base & Countable).self, making: { Everything($0) }, { ($0.base + $0.count) / 2 })
  }

  @Test("a protocol constrained to an associated type")
  func constrained() async {
    await check((any Source<Int>).self, making: { Everything($0) }, { $0.next() })
  }

  @Test("a constrained protocol together with another")
  func constrainedComposition() async {
    await check(
      (any Source<Int> & Countable).self, making: { Everything($0) },
      { ($0.next() + $0.count) / 2 })
  }

  @Test("an actor, through a protocol that is bound to actors")
  func actorProtocol() async {
    await check((any Office).self, making: { Clerk($0) }, { await $0.serve() })
  }

  @Test("an actor, through a protocol that is bound to nothing")
  func actorThroughUnbound() async {
    await check((any Servant).self, making: { Clerk($0) }, { await $0.serve() })
  }

  @Test("any actor and any object at all")
  func bareObjects() async {
    await check((any Actor).self, making: { Clerk($0) }, { ($0 as? Clerk)?.number ?? -1 })
    await check(
      (AnyObject & Sendable).self, making: { Everything($0) },
      { ($0 as? Everything)?.number ?? -1 })
    await check(
      (any Sendable).self, making: { Everything($0) }, { ($0 as? Everything)?.number ?? -1 })
  }

  @Test("an object in a box: any Error")
  func boxed() async {
    await check((any Error).self, making: { Fault($0) }, { ($0 as? Fault)?.number ?? -1 })
    await check(
      (any Error & Countable).self, making: { Fault($0) }, { ($0 as? Fault)?.number ?? -1 })
  }

  @Test("one object subscribed in many layouts is called through each")
  func many() async {
    let hub = DelegateHub()
    let object = Everything(7)
    hub.subscribe(object, to: Numbered.self)
    hub.subscribe(object, to: Countable.self)
    hub.subscribe(object, to: (any Base & Countable).self)
    hub.subscribe(object, to: (any Source<Int>).self)
    #expect(await hub[Numbered.self].ask(combining: .all()) { $0.number } == [7])
    #expect(await hub[Countable.self].ask(combining: .all()) { $0.count } == [7])
    #expect(await hub.ask((any Base & Countable).self, combining: .all()) { $0.base } == [7])
    #expect(await hub[(any Source<Int>).self].ask(combining: .all()) { $0.next() } == [7])
    #expect(await hub[(any Source<String>).self].ask(combining: .all()) { $0.next() } == [])
    hub.unsubscribe(object)
    #expect(hub[Numbered.self].count == 0)
    #expect(hub[Countable.self].count == 0)
  }
}

private protocol Numbered: AnyObject, Sendable { var number: Int { get } }
private protocol Countable: Sendable { var count: Int { get } }
private protocol Nameable: Sendable { var title: String { get } }
private protocol Sizable: Sendable { var size: Int { get } }
private protocol Source<Element>: Sendable {
  associatedtype Element: Sendable
  func next() -> Element
}

private class Base: @unchecked Sendable {
  let base: Int
  init(base: Int) { self.base = base }
}

private final class Everything: Base, Numbered, Countable, Nameable, Sizable, Source,
  @unchecked Sendable
{
  let number: Int
  var count: Int { number }
  var title: String { "number \(number)" }
  var size: Int { 0 }
  init(_ number: Int) {
    self.number = number
    super.init(base: number)
  }
  func next() -> Int { number }
}

private final class Box<Content: Sendable>: Sendable {
  let content: Content
  init(_ content: Content) { self.content = content }
}

private protocol Servant: Sendable { func serve() async -> Int }
private protocol Office: Actor { func serve() -> Int }

private actor Clerk: Office, Servant {
  let number: Int
  init(_ number: Int) { self.number = number }
  func serve() -> Int { number }
}

private final class Fault: Error, Countable {
  let number: Int
  var count: Int { number }
  init(_ number: Int) { self.number = number }
}

/// The object itself, even if the value keeps it in a box, as an `any Error` does.
private func object<P>(of value: P) -> AnyObject {
  func unboxed(_ error: some Error) -> AnyObject { error as AnyObject }
  if let error = value as? any Error { return unboxed(error) }
  return value as AnyObject
}
