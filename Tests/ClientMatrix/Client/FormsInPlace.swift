import Delegation

// Questions in every form that awaits nothing: for each its name, the overload that it takes, the
// call.

nonisolated func formsThatAwaitNothing(_ hub: DelegateHub) async {
  let (shop, guest) = ((any Shop).self, Guest())

  await form("trailing", .inPlace) { await hub.vote(shop) { $0.isOpen } }
  await form("in parentheses", .inPlace) { await hub.vote(shop, { $0.isOpen }) }
  await form("named type", .inPlace) { await hub.vote((any Shop).self) { $0.serves("Alice") } }
  #if !hasFeature(ExistentialAny)
    await form("short type", .inPlace) { await hub.vote(Shop.self) { $0.isOpen } }
  #endif
  await form("condition", .inPlace) {
    if await hub.vote(shop, { $0.isOpen }) { return true }
    return false
  }
  await form("guard, with a rule", .inPlace) {
    guard await hub.vote(shop, by: .anyone, { $0.isOpen }) else { return false }
    return true
  }
  await form("default rule", .inPlace) { await hub.vote(shop) { shop in shop.isOpen } }
  await form("rule", .inPlace) { await hub.vote(shop, by: .majority) { $0.isOpen } }
  await form("client's rule", .inPlace) { await hub.vote(shop, by: TwoVetoes()) { $0.isOpen } }
  await form("several statements", .inPlace) {
    await hub.vote(shop) { shop in
      let isOpen = shop.isOpen
      guard isOpen else { return false }
      return shop.serves("Alice")
    }
  }
  await form("statements without a name", .inPlace) {
    await hub.vote(shop) {
      if $0.isOpen { return true }
      return false
    }
  }
  await form("expression of if", .inPlace) {
    await hub.vote(shop) { if $0.isOpen { true } else { false } }
  }
  await form("parameter type", .inPlace) { await hub.vote(shop) { (s: any Shop) in s.isOpen } }
  await form("result type", .inPlace) { await hub.vote(shop) { s -> Bool in s.isOpen } }
  await form("both types", .inPlace) { await hub.vote(shop) { (s: any Shop) -> Bool in s.isOpen } }
  await form("@Sendable", .inPlace) { await hub.vote(shop) { @Sendable in $0.isOpen } }
  await form("capture list", .inPlace) { await hub.vote(shop) { [guest] in guest.likes($0) } }
  await form("cast", .inPlace) { await hub.vote(shop) { ($0 as? Baker)?.isOpen ?? false } }
  await form("a task within", .inPlace) {
    await hub.vote(shop) { shop in
      Task { _ = await hub.statistics() }
      return shop.isOpen
    }
  }

  await form("ask", .inPlace) { await hub.ask(shop, combining: .anyone) { $0.isOpen } }
  await form("ask, counts", .inPlace) {
    await hub.ask(shop, combining: .sum()) { $0.isOpen ? 1 : 0 } == 2
  }
  await form("ask, optional", .inPlace) {
    await hub.ask(shop, combining: .firstNonNil()) { $0.sign } == "bread"
  }
  await form("ask, optional literals", .inPlace) {
    await hub.ask(shop, combining: .firstNonNil()) { $0.isOpen ? "open" : nil } == "open"
  }
  await form("ask, optional statements", .inPlace) {
    let sign: String? = await hub.ask(shop, combining: .firstNonNil()) { shop in
      guard shop.isOpen else { return nil }
      return shop.sign
    }
    return sign == "bread"
  }
  await form("ask, all", .inPlace) {
    let signs: [String?] = await hub.ask(shop, combining: .all(), { $0.sign })
    return signs == ["bread", "bread"]
  }
}

private nonisolated func vote<P: Sendable>(
  _ type: P.Type, in hub: DelegateHub, _ body: @escaping @Sendable (P) -> Bool
) async -> Bool { await hub.vote(type, body) }

private nonisolated func voteInClosure<P, E>(
  _ type: P.Type, in hub: DelegateHub, _ body: @escaping @Sendable (P) throws(E) -> Bool
) async throws(E) -> Bool { try await hub.vote(type) { shop throws(E) in try body(shop) } }

private nonisolated func voteAwaiting<P: Sendable, E>(
  _ type: P.Type, in hub: DelegateHub, _ body: @escaping @Sendable (P) async throws(E) -> Bool
) async throws(E) -> Bool { try await hub.vote(type, body) }

private nonisolated func ask<P: Sendable, C: Combiner>(
  _ type: P.Type, in hub: DelegateHub, combining combiner: C,
  _ body: @escaping @Sendable (P) -> C.Response
) async -> C.Outcome { await hub.ask(type, combining: combiner) { body($0) } }

private nonisolated func isGlobal(_ shop: any Shop) -> Bool { shop.isOpen }
private nonisolated func isGeneric<S>(_ shop: S) -> Bool { ShopVisit.note() }

nonisolated func formsWithReferences(_ hub: DelegateHub) async {
  let (shop, guest) = ((any Shop).self, Guest())
  @Sendable func isLocal(_ shop: any Shop) -> Bool { shop.isOpen }
  @Sendable func awaits(_ shop: any Shop) async -> Bool { await shop.delivers(to: "Alice") }
  typealias Body = @Sendable (any Shop) -> Bool
  let stored: Body = { $0.isOpen }
  let storedAwaiting: @Sendable (any Shop) async -> Bool = { $0.isOpen }
  let storedThrowing: @Sendable (any Shop) throws -> Bool = { $0.isOpen }

  await form("local function", .inPlace) { await hub.vote(shop, isLocal) }
  // Swift 5 warns that such a function is not `Sendable`, whatever it is given to.
  #if hasFeature(InferSendableFromCaptures)
    await form("global function", .inPlace) { await hub.vote(shop, isGlobal) }
    await form("static function", .inPlace) { await hub.vote(shop, Baker.isBusy) }
    await form("method of a value", .inPlace) { await hub.vote(shop, guest.likes) }
    await form("generic function", .inPlace) { await hub.vote(shop, isGeneric) }
    await form("one of two functions", .inPlace) {
      await hub.vote(shop, guest.isRich ? isGlobal : guest.likes)
    }
  #endif
  await form("key path", .inPlace) { await hub.vote(shop, \.isOpen) }
  await form("ask, key path", .inPlace) { await hub.ask(shop, combining: .anyone, \.isOpen) }
  await form("ask, optional key path", .inPlace) {
    await hub.ask(shop, combining: .firstNonNil(), \.sign) == "bread"
  }
  await form("local function that awaits", .awaiting) { await hub.vote(shop, awaits) }
  await form("variable", .inPlace) { await hub.vote(shop, stored) }
  await form("ask, variable", .inPlace) { await hub.ask(shop, combining: .anyone, stored) }
  await form("optional variable", .inPlace) { await hub.vote(shop, stored as Body? ?? isLocal) }
  await form("closure with as", .inPlace) { await hub.vote(shop, { $0.isOpen } as Body) }
  await form("variable that throws", .inPlace) { try await hub.vote(shop, storedThrowing) }
  await form("variable that awaits", .awaiting) { await hub.vote(shop, storedAwaiting) }
  await form("variable in a closure", .inPlace) { await hub.vote(shop) { stored($0) } }

  await form("generic", .inPlace) { await vote(shop, in: hub) { $0.isOpen } }
  await form("generic closure", .inPlace) { await voteInClosure(shop, in: hub) { $0.isOpen } }
  await form("generic, awaiting", .awaiting) { await voteAwaiting(shop, in: hub) { $0.isOpen } }
  await form("generic, awaiting, typed", throwing: .awaiting) { () async throws(Refusal) in
    try await voteAwaiting(shop, in: hub) { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("generic, variable", .inPlace) { await vote(shop, in: hub, stored) }
  await form("generic ask", .inPlace) {
    await ask(shop, in: hub, combining: .firstNonNil()) { $0.sign } == "bread"
  }
}

nonisolated func formsThatThrow(_ hub: DelegateHub) async {
  let shop = (any Shop).self

  await form("try?", .inPlace) { await hub.vote(shop) { (try? $0.refuses("A")) == nil } }
  await form("try", .inPlace) {
    do {
      return try await hub.vote(shop) { try $0.refuses("Mallory") }
    } catch {
      return error is Refusal
    }
  }
  await form("throw", .inPlace) {
    do {
      return try await hub.vote(shop) { shop in
        if shop.isOpen { throw Refusal() }
        return false
      }
    } catch {
      return error is Refusal
    }
  }
  await form("typed", throwing: .inPlace) { () async throws(Refusal) in
    try await hub.vote(shop) { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("typed, both types", throwing: .inPlace) { () async throws(Refusal) in
    try await hub.vote(shop) { (shop: any Shop) throws(Refusal) -> Bool in try shop.refuses("M") }
  }
  await form("typed, statements", throwing: .inPlace) { () async throws(Refusal) in
    try await hub.vote(shop, by: .anyone) { shop throws(Refusal) in
      if shop.isOpen { throw Refusal() }
      return false
    }
  }
  await form("ask, typed", throwing: .inPlace) { () async throws(Refusal) in
    try await hub.ask(shop, combining: .anyone) { s throws(Refusal) in try s.refuses("Mallory") }
  }
  await form("typed, generic", throwing: .inPlace) { () async throws(Refusal) in
    try await voteInClosure(shop, in: hub) { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("typed, awaiting", throwing: .awaiting) { () async throws(Refusal) in
    try await hub.vote(shop) { shop async throws(Refusal) in try await shop.fails("Mallory") }
  }
  await form("typed, awaiting nothing", throwing: .awaiting) { () async throws(Refusal) in
    try await hub.vote(shop) { shop async throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("ask, typed, awaiting", throwing: .awaiting) { () async throws(Refusal) in
    try await hub.ask(shop, combining: .anyone) { shop async throws(Refusal) -> Bool in
      try await shop.fails("Mallory")
    }
  }
}
