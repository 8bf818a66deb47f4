import Delegation

// Questions in every form that awaits or says `@MainActor`, narrowed ones, and some from the main actor.

nonisolated func formsThatAwait(_ hub: DelegateHub) async {
  let (shops, tills) = (hub[(any Shop).self], hub[(any Till).self])

  await form("await", .awaiting) { await shops.vote { await $0.delivers(to: "Alice") } }
  await form("await in a statement", .awaiting) {
    await shops.vote { shop in
      guard shop.isOpen else { return false }
      return await shop.delivers(to: "Alice")
    }
  }
  await form("async let", .awaiting) {
    await shops.vote { shop in
      async let isDelivered = shop.delivers(to: "Alice")
      return shop.isOpen ? await isDelivered : false
    }
  }
  await form("try await", .awaiting) {
    do {
      return try await shops.vote { try await $0.fails("Mallory") }
    } catch {
      return error is Refusal
    }
  }
  await form("needless async", .awaiting) { await shops.vote { shop async in shop.isOpen } }
  await form("@concurrent", .awaiting) {
    await shops.vote { @concurrent shop async in shop.isOpen }
  }
  await form("ask, await", .awaiting) {
    await shops.ask(combining: .anyone) { await $0.delivers(to: "Alice") }
  }
  await form("method of an actor", .awaiting) {
    await tills.vote { await $0.counts(to: 5) }
  }

  await form("within", .awaiting) {
    await shops.vote(within: .seconds(60), absent: .counts(as: false)) { $0.isOpen }
  }
  await form("ask, within", .awaiting) {
    await shops.ask(combining: .anyone, within: .seconds(60), absent: .abstains) { $0.isOpen }
  }
  await form("collect", .awaiting) { await shops.collect { $0.isOpen }.count == 2 }
  await form("askInTurn", .inTurn) { await shops.askInTurn { $0.isOpen } ?? false }
  await form("pass", .inTurn) { await shops.pass(1) { $0.isOpen ? $1 : nil } == 1 }
}

nonisolated func formsOnMainActor(_ hub: DelegateHub) async {
  let (shops, stalls) = (hub[(any Shop).self], hub[(any Stall).self])
  let stored: @MainActor @Sendable (any Stall) -> Bool = { $0.isOpen }
  let storedElsewhere: @Other @Sendable (any Shop) -> Bool = { $0.isOpen }
  let storedAwaiting: @MainActor @Sendable (any Stall) async -> Bool = { await $0.loads() }
  @MainActor func isLocal(_ stall: any Stall) -> Bool { stall.isOpen }

  await form("@MainActor", .onMain) { await stalls.vote { @MainActor in $0.isOpen } }
  await form("@MainActor, statements", .onMain) {
    await stalls.vote { @MainActor stall in
      guard stall.isOpen else { return false }
      return stall.isOpen
    }
  }
  await form("@MainActor, another shop", .onMain) {
    await shops.vote { @MainActor in $0.isOpen }
  }
  await form("@MainActor, throws", .onMain) {
    try await shops.vote { @MainActor shop in
      if !shop.isOpen { throw Refusal() }
      return true
    }
  }
  await form("@MainActor, typed", throwing: .onMain) { () async throws(Refusal) in
    try await shops.vote { @MainActor shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("@MainActor, ask", .onMain) {
    await stalls.ask(combining: .sum()) { @MainActor in $0.isOpen ? 1 : 0 } == 2
  }
  await form("@MainActor, ask, optional", .onMain) {
    await shops.ask(combining: .firstNonNil()) { @MainActor in $0.sign } == "bread"
  }
  await form("another global actor", .onOther) { await shops.vote { @Other in $0.isOpen } }
  await form("another global actor, ask", .onOther) {
    await shops.ask(combining: .anyone) { @Other shop in
      guard shop.isOpen else { return false }
      return true
    }
  }
  await form("another global actor, variable", .onOther) { await shops.vote(storedElsewhere) }
  await form("@MainActor variable", .onMain) { await stalls.vote(stored) }
  #if hasFeature(InferSendableFromCaptures)
    await form("@MainActor function", .onMain) { await stalls.vote(isLocal) }
  #endif

  await form("@MainActor, await", .awaitingOnMain) {
    await stalls.vote { @MainActor in await $0.loads() }
  }
  await form("@MainActor, await, typed", throwing: .awaitingOnMain) { () async throws(Refusal) in
    try await shops.vote { @MainActor shop async throws(Refusal) in
      try shop.refuses("Mallory")
    }
  }
  await form("@MainActor, ask, await", .awaitingOnMain) {
    await stalls.ask(combining: .anyone) { @MainActor in await $0.loads() }
  }
  await form("@MainActor variable that awaits", .awaitingOnMain) {
    await stalls.vote(storedAwaiting)
  }
  await form("await of the main actor", .awaitingOnMain) {
    await stalls.vote { await $0.isOpen }
  }
  await form("@MainActor, within", .awaitingOnMain) {
    await stalls.vote(within: .seconds(60), absent: .abstains) { @MainActor in $0.isOpen }
  }
  await form("@MainActor, collect", .awaitingOnMain) {
    await stalls.collect { @MainActor in $0.isOpen }.count == 2
  }
}

nonisolated func formsOfNarrowed(_ shops: Delegates<any Shop>) async {
  let bakeries = shops.conforming(to: (any Bakery).self)

  await form("conforming", .inPlace) { await bakeries.vote { $0.isOpen } }
  await form("conforming, key path", .inPlace) { await bakeries.vote(\.isOpen) }
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
  let (shops, stalls) = (hub[(any Shop).self], hub[(any Stall).self])

  #if hasFeature(InferSendableFromCaptures)
    await form("from main, function", unannotated) { await shops.vote(isUnannotated) }
  #endif
  // It is made on the main actor, and so belongs to it.
  await form("from main, key path", .onMain) { await shops.vote(\.isOpen) }
  await form("from main, typed", throwing: .inPlace) { () async throws(Refusal) in
    try await shops.vote { shop throws(Refusal) in try shop.refuses("Mallory") }
  }
  await form("from main, await", .awaiting) {
    await shops.vote { await $0.delivers(to: "Alice") }
  }
  await form("from main, @MainActor", .onMain) {
    await stalls.vote { @MainActor in $0.isOpen }
  }
  await form("from main, @MainActor, await", .awaitingOnMain) {
    await stalls.vote { @MainActor in await $0.loads() }
  }
}
