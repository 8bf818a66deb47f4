import Delegation

// Questions in every form that awaits nothing: for each its name, the overload that it takes, the
// call.

nonisolated func formsThatAwaitNothing(_ hub: DelegateHub) async {
  let (shops, guest) = (hub[(any Shop).self], Guest())

  await form("trailing", .inPlace) { await shops.vote { $0.isOpen } }
  await form("named type", .inPlace) { await hub[(any Shop).self].vote { $0.serves("Alice") } }
  #if !hasFeature(ExistentialAny)
    await form("short type", .inPlace) { await hub[Shop.self].vote { $0.isOpen } }
  #endif
  await form("condition", .inPlace) {
    if await shops.vote({ $0.isOpen }) { return true }
    return false
  }
  await form("client's rule", .inPlace) { await shops.vote(by: TwoVetoes()) { $0.isOpen } }
  await form("several statements", .inPlace) {
    await shops.vote { shop in
      let isOpen = shop.isOpen
      guard isOpen else { return false }
      return shop.serves("Alice")
    }
  }
  await form("expression of if", .inPlace) {
    await shops.vote { if $0.isOpen { true } else { false } }
  }
  await form("parameter type", .inPlace) { await shops.vote { (s: any Shop) in s.isOpen } }
  await form("@Sendable", .inPlace) { await shops.vote { @Sendable in $0.isOpen } }
  await form("capture list", .inPlace) { await shops.vote { [guest] in guest.likes($0) } }
  await form("a task within", .inPlace) {
    await shops.vote { shop in
      Task { _ = hub.statistics() }
      return shop.isOpen
    }
  }

  await form("ask", .inPlace) { await shops.ask(combining: .anyone) { $0.isOpen } }
  await form("ask, optional", .inPlace) {
    await shops.ask(combining: .firstNonNil()) { $0.sign } == "bread"
  }
  await form("ask, optional statements", .inPlace) {
    let sign: String? = await shops.ask(combining: .firstNonNil()) { shop in
      guard shop.isOpen else { return nil }
      return shop.sign
    }
    return sign == "bread"
  }
  await form("ask, all", .inPlace) {
    let signs: [String?] = await shops.ask(combining: .all(), { $0.sign })
    return signs == ["bread", "bread"]
  }
}

private nonisolated func vote<P: Sendable>(
  _ delegates: Delegates<P>, _ body: @escaping @Sendable (P) -> Bool
) async -> Bool { await delegates.vote(body) }

private nonisolated func voteAwaiting<P: Sendable, E>(
  _ delegates: Delegates<P>, _ body: @escaping @Sendable (P) async throws(E) -> Bool
) async throws(E) -> Bool { try await delegates.vote(body) }

private nonisolated func ask<P: Sendable, C: Combiner>(
  _ delegates: Delegates<P>, combining combiner: C,
  _ body: @escaping @Sendable (P) -> C.Response
) async -> C.Outcome { await delegates.ask(combining: combiner) { body($0) } }

private nonisolated func isGlobal(_ shop: any Shop) -> Bool { shop.isOpen }
private nonisolated func isGeneric<S>(_ shop: S) -> Bool { ShopVisit.note() }

nonisolated func formsWithReferences(_ hub: DelegateHub) async {
  let (shops, guest) = (hub[(any Shop).self], Guest())
  @Sendable func isLocal(_ shop: any Shop) -> Bool { shop.isOpen }
  @Sendable func awaits(_ shop: any Shop) async -> Bool { await shop.delivers(to: "Alice") }
  typealias Body = @Sendable (any Shop) -> Bool
  let stored: Body = { $0.isOpen }
  let storedAwaiting: @Sendable (any Shop) async -> Bool = { $0.isOpen }
  let storedThrowing: @Sendable (any Shop) throws -> Bool = { $0.isOpen }

  await form("local function", .inPlace) { await shops.vote(isLocal) }
  // Swift 5 warns that such a function is not `Sendable`, whatever it is given to.
  #if hasFeature(InferSendableFromCaptures)
    await form("global function", .inPlace) { await shops.vote(isGlobal) }
    await form("static function", .inPlace) { await shops.vote(Baker.isBusy) }
    await form("method of a value", .inPlace) { await shops.vote(guest.likes) }
    await form("generic function", .inPlace) { await shops.vote(isGeneric) }
  #endif
  await form("key path", .inPlace) { await shops.vote(\.isOpen) }
  await form("ask, optional key path", .inPlace) {
    await shops.ask(combining: .firstNonNil(), \.sign) == "bread"
  }
  await form("local function that awaits", .awaiting) { await shops.vote(awaits) }
  await form("variable", .inPlace) { await shops.vote(stored) }
  await form("variable that throws", .inPlace) { try await shops.vote(storedThrowing) }
  await form("variable that awaits", .awaiting) { await shops.vote(storedAwaiting) }

  await form("generic", .inPlace) { await vote(shops) { $0.isOpen } }
  await form("generic, awaiting", .awaiting) { await voteAwaiting(shops) { $0.isOpen } }
  await form("generic, awaiting, typed", throwing: .awaiting) { () async throws(Refusal) in
    try await voteAwaiting(shops) { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("generic ask", .inPlace) {
    await ask(shops, combining: .firstNonNil()) { $0.sign } == "bread"
  }
}

nonisolated func formsThatThrow(_ hub: DelegateHub) async {
  let shops = hub[(any Shop).self]

  await form("try?", .inPlace) { await shops.vote { (try? $0.refuses("A")) == nil } }
  await form("try", .inPlace) {
    do {
      return try await shops.vote { try $0.refuses("Mallory") }
    } catch {
      return error is Refusal
    }
  }
  await form("typed", throwing: .inPlace) { () async throws(Refusal) in
    try await shops.vote { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("typed, statements", throwing: .inPlace) { () async throws(Refusal) in
    try await shops.vote(by: .anyone) { shop throws(Refusal) in
      if shop.isOpen { throw Refusal() }
      return false
    }
  }
  await form("typed, awaiting", throwing: .awaiting) { () async throws(Refusal) in
    try await shops.vote { shop async throws(Refusal) in try await shop.fails("Mallory") }
  }
  await form("ask, typed, awaiting", throwing: .awaiting) { () async throws(Refusal) in
    try await shops.ask(combining: .anyone) { shop async throws(Refusal) -> Bool in
      try await shop.fails("Mallory")
    }
  }
}
