import Delegation

// Questions in every form that awaits or says `@MainActor`, those of `Delegates`, and some from the
// main actor.

nonisolated func formsThatAwait(_ hub: DelegateHub) async {
  let (shop, till) = ((any Shop).self, (any Till).self)

  await form("await", .awaiting) { await hub.vote(shop) { await $0.delivers(to: "Alice") } }
  await form("await in parentheses", .awaiting) {
    await hub.vote(shop, by: .anyone, { await $0.delivers(to: "Alice") })
  }
  await form("await in a condition", .awaiting) {
    if await hub.vote(shop, { await $0.delivers(to: "Alice") }) { return true }
    return false
  }
  await form("await in a statement", .awaiting) {
    await hub.vote(shop) { shop in
      guard shop.isOpen else { return false }
      return await shop.delivers(to: "Alice")
    }
  }
  await form("async let", .awaiting) {
    await hub.vote(shop) { shop in
      async let isDelivered = shop.delivers(to: "Alice")
      return shop.isOpen ? await isDelivered : false
    }
  }
  await form("try await", .awaiting) {
    do {
      return try await hub.vote(shop) { try await $0.fails("Mallory") }
    } catch {
      return error is Refusal
    }
  }
  await form("needless async", .awaiting) { await hub.vote(shop) { shop async in shop.isOpen } }
  await form("needless async, types", .awaiting) {
    await hub.vote(shop) { (shop: any Shop) async -> Bool in shop.isOpen }
  }
  await form("@concurrent", .awaiting) {
    await hub.vote(shop) { @concurrent shop async in shop.isOpen }
  }
  await form("ask, await", .awaiting) {
    await hub.ask(shop, combining: .anyone) { await $0.delivers(to: "Alice") }
  }
  await form("ask, optional, await", .awaiting) {
    await hub.ask(shop, combining: .firstNonNil()) { await $0.delivers(to: "A") ? $0.sign : nil }
      == "bread"
  }
  await form("another question within", .awaiting) {
    await hub.vote(shop) { shop in
      await hub.vote((any Stall).self) { _ in true } ? shop.isOpen : false
    }
  }
  await form("method of an actor", .awaiting) {
    await hub.vote(till) { await $0.counts(to: 5) }
  }
  await form("property of an actor", .awaiting) { await hub.vote(till) { await $0.isEmpty } }

  await form("within", .awaiting) {
    await hub.vote(shop, within: .seconds(60), absent: .counts(as: false)) { $0.isOpen }
  }
  await form("absent", .awaiting) {
    await hub.vote(shop, by: .anyone, absent: .counts(as: false)) { $0.isOpen }
  }
  await form("ask, within", .awaiting) {
    await hub.ask(shop, combining: .anyone, within: .seconds(60), absent: .abstains) { $0.isOpen }
  }
  await form("collect", .awaiting) { await hub.collect(shop) { $0.isOpen }.count == 2 }
  await form("askInTurn", .inTurn) { await hub.askInTurn(shop) { $0.isOpen } ?? false }
  await form("askInTurn, optional", .inTurn) { await hub.askInTurn(shop) { $0.sign } == "bread" }
  await form("pass", .inTurn) { await hub.pass(1, through: shop) { $0.isOpen ? $1 : nil } == 1 }
}

nonisolated func formsOnMainActor(_ hub: DelegateHub) async {
  let (shop, stall) = ((any Shop).self, (any Stall).self)
  let stored: @MainActor @Sendable (any Stall) -> Bool = { $0.isOpen }
  let storedElsewhere: @Other @Sendable (any Shop) -> Bool = { $0.isOpen }
  let storedAwaiting: @MainActor @Sendable (any Stall) async -> Bool = { await $0.loads() }
  @MainActor func isLocal(_ stall: any Stall) -> Bool { stall.isOpen }

  await form("@MainActor", .onMain) { await hub.vote(stall) { @MainActor in $0.isOpen } }
  await form("@MainActor, name", .onMain) { await hub.vote(stall) { @MainActor s in s.isOpen } }
  await form("@MainActor, rule", .onMain) {
    await hub.vote(stall, by: .majority) { @MainActor in $0.isOpen }
  }
  await form("@MainActor in a condition", .onMain) {
    if await hub.vote(stall, { @MainActor in $0.isOpen }) { return true }
    return false
  }
  await form("@MainActor, statements", .onMain) {
    await hub.vote(stall) { @MainActor stall in
      guard stall.isOpen else { return false }
      return stall.isOpen
    }
  }
  await form("@MainActor, types", .onMain) {
    await hub.vote(stall) { @MainActor (stall: any Stall) -> Bool in stall.isOpen }
  }
  await form("@MainActor, another shop", .onMain) {
    await hub.vote(shop) { @MainActor in $0.isOpen }
  }
  await form("@MainActor, throws", .onMain) {
    try await hub.vote(shop) { @MainActor shop in
      if !shop.isOpen { throw Refusal() }
      return true
    }
  }
  await form("@MainActor, typed", throwing: .onMain) { () async throws(Refusal) in
    try await hub.vote(shop) { @MainActor shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("@MainActor, ask", .onMain) {
    await hub.ask(stall, combining: .sum()) { @MainActor in $0.isOpen ? 1 : 0 } == 2
  }
  await form("@MainActor, ask, optional", .onMain) {
    await hub.ask(shop, combining: .firstNonNil()) { @MainActor in $0.sign } == "bread"
  }
  await form("another global actor", .onOther) { await hub.vote(shop) { @Other in $0.isOpen } }
  await form("another global actor, ask", .onOther) {
    await hub.ask(shop, combining: .anyone) { @Other shop in
      guard shop.isOpen else { return false }
      return true
    }
  }
  await form("another global actor, typed", throwing: .onOther) { () async throws(Refusal) in
    try await hub.vote(shop) { @Other shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("another global actor, variable", .onOther) { await hub.vote(shop, storedElsewhere) }
  await form("another global actor, within", .onOther) {
    await hub.vote(shop, within: .seconds(60), absent: .abstains) { @Other in $0.isOpen }
  }
  await form("another global actor, collect", .onOther) {
    await hub.collect(shop) { @Other in $0.isOpen }.count == 2
  }
  await form("@MainActor variable", .onMain) { await hub.vote(stall, stored) }
  #if hasFeature(InferSendableFromCaptures)
    await form("@MainActor function", .onMain) { await hub.vote(stall, isLocal) }
  #endif

  await form("@MainActor, await", .awaitingOnMain) {
    await hub.vote(stall) { @MainActor in await $0.loads() }
  }
  await form("@MainActor, await, statements", .awaitingOnMain) {
    await hub.vote(stall) { @MainActor stall in
      guard stall.isOpen else { return false }
      return await stall.loads()
    }
  }
  await form("@MainActor, async", .awaitingOnMain) {
    await hub.vote(stall) { @MainActor stall async in stall.isOpen }
  }
  await form("@MainActor, await, typed", throwing: .awaitingOnMain) { () async throws(Refusal) in
    try await hub.vote(shop) { @MainActor shop async throws(Refusal) in
      try shop.refuses("Mallory")
    }
  }
  await form("@MainActor, ask, await", .awaitingOnMain) {
    await hub.ask(stall, combining: .anyone) { @MainActor in await $0.loads() }
  }
  await form("@MainActor variable that awaits", .awaitingOnMain) {
    await hub.vote(stall, storedAwaiting)
  }
  await form("await of the main actor", .awaitingOnMain) {
    await hub.vote(stall) { await $0.isOpen }
  }
  await form("@MainActor, within", .awaitingOnMain) {
    await hub.vote(stall, within: .seconds(60), absent: .abstains) { @MainActor in $0.isOpen }
  }
  await form("@MainActor, collect", .awaitingOnMain) {
    await hub.collect(stall) { @MainActor in $0.isOpen }.count == 2
  }
}

nonisolated func formsOfDelegates(_ shops: Delegates<any Shop>) async {
  let bakeries = shops.conforming(to: (any Bakery).self)
  @Sendable func isLocal(_ shop: any Shop) -> Bool { shop.isOpen }

  await form("Delegates", .inPlace) { await shops.vote { $0.isOpen } }
  await form("Delegates, in parentheses", .inPlace) { await shops.vote(by: .anyone, { $0.isOpen }) }
  await form("Delegates, key path", .inPlace) { await shops.vote(\.isOpen) }
  await form("Delegates, ask", .inPlace) { await shops.ask(combining: .anyone) { $0.isOpen } }
  await form("Delegates, ask, key path", .inPlace) {
    await shops.ask(combining: .anyone, \.isOpen)
  }
  await form("Delegates, function", .inPlace) { await shops.vote(isLocal) }
  await form("Delegates, ask, optional", .inPlace) {
    await shops.ask(combining: .firstNonNil()) { $0.sign } == "bread"
  }
  await form("Delegates, typed", throwing: .inPlace) { () async throws(Refusal) in
    try await shops.vote { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("Delegates, @MainActor", .onMain) { await shops.vote { @MainActor in $0.isOpen } }
  await form("Delegates, another global actor", .onOther) {
    await shops.vote { @Other in $0.isOpen }
  }
  await form("Delegates, another global actor, ask", .onOther) {
    await shops.ask(combining: .firstNonNil()) { @Other in $0.sign } == "bread"
  }
  await form("Delegates, ask, @MainActor", .onMain) {
    await shops.ask(combining: .firstNonNil()) { @MainActor in $0.sign } == "bread"
  }
  await form("Delegates, await", .awaiting) { await shops.vote { await $0.delivers(to: "A") } }
  await form("Delegates, ask, await", .awaiting) {
    await shops.ask(combining: .anyone) { await $0.delivers(to: "Alice") }
  }
  await form("Delegates, within", .awaiting) {
    await shops.vote(within: .seconds(60), absent: .abstains) { $0.isOpen }
  }
  await form("Delegates, askInTurn", .inTurn) { await shops.askInTurn { $0.isOpen } ?? false }
  await form("conforming", .inPlace) { await bakeries.vote { $0.isOpen } }
  await form("conforming, key path", .inPlace) { await bakeries.vote(\.isOpen) }
  await form("conforming, ask", .inPlace) { await bakeries.ask(combining: .anyone) { $0.isOpen } }
  await form("conforming, @MainActor", .onMain) { await bakeries.vote { @MainActor in $0.isOpen } }
  await form("conforming, await", .awaiting) { await bakeries.vote { await $0.delivers(to: "A") } }
}

#if MAIN_ACTOR_BY_DEFAULT
  private let unannotated = Overload.onMain
#else
  private let unannotated = Overload.inPlace
#endif

/// Isolated to the main actor where that is the default.
private func isUnannotated(_ shop: any Shop) -> Bool { shop.isOpen }

@MainActor
func formsFromMainActor(_ hub: DelegateHub) async {
  let (shop, stall) = ((any Shop).self, (any Stall).self)

  await form("from main, trailing", .inPlace) { await hub.vote(shop) { $0.isOpen } }
  #if hasFeature(InferSendableFromCaptures)
    await form("from main, function", unannotated) { await hub.vote(shop, isUnannotated) }
  #endif
  // It is made on the main actor, and so belongs to it.
  await form("from main, key path", .onMain) { await hub.vote(shop, \.isOpen) }
  await form("from main, ask", .inPlace) { await hub.ask(shop, combining: .anyone) { $0.isOpen } }
  await form("from main, typed", throwing: .inPlace) { () async throws(Refusal) in
    try await hub.vote(shop) { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("from main, await", .awaiting) {
    await hub.vote(shop) { await $0.delivers(to: "Alice") }
  }
  await form("from main, @MainActor", .onMain) {
    await hub.vote(stall) { @MainActor in $0.isOpen }
  }
  await form("from main, @MainActor, await", .awaitingOnMain) {
    await hub.vote(stall) { @MainActor in await $0.loads() }
  }
}
