import Delegation

// `forEach` in every form: the closure stays where the caller runs, and need not be `Sendable`.

nonisolated func formsOfForEach(_ hub: DelegateHub) async {
  let shops = hub[(any Shop).self]
  formsInSynchronousCode(shops)
  await formsWhereTheCallerRuns(shops)
  // In an asynchronous context, too, a closure that awaits nothing takes the synchronous form.
  var open = 0
  shops.forEach { if $0.isOpen { open += 1 } }
  await shops.forEach(reversed: true) { shop in
    let isDelivered = await shop.delivers(to: "Alice")
    guard isDelivered else { return }
    open += 1
  }
  Checks.expect(open, is: 4)
  do throws(Refusal) {
    try await shops.forEach { shop async throws(Refusal) in _ = try await shop.fails("Mallory") }
    Checks.expect(false, "forEach should have thrown")
  } catch {
    Checks.expect(error, is: Refusal())
  }
  await CashDesk().count(shops)
  await formsOfForEachOnMainActor(hub)
}

private nonisolated func opens(_ shop: any Shop) { _ = shop.isOpen }
private nonisolated(nonsending) func delivers(_ shop: any Shop) async {
  _ = await shop.delivers(to: "Alice")
}

/// Stays where its caller runs, and calls there.
private nonisolated(nonsending) func formsWhereTheCallerRuns(_ shops: Delegates<any Shop>) async {
  var (open, bakers) = (0, 0)
  await shops.forEach(delivers)
  await shops.forEach { if await $0.delivers(to: "Alice") { open += 1 } }
  await shops.forEach(reversed: true) { shop in if await shop.delivers(to: "Bob") { open += 1 } }
  shops.conforming(to: (any Bakery).self).forEach { bakers += $0.isOpen ? 1 : 0 }
  await shops.conforming(to: (any Bakery).self).forEach {
    if await $0.delivers(to: "Alice") { bakers += 1 }
  }
  Checks.expect([open, bakers], is: [4, 4])
}

private nonisolated func formsInSynchronousCode(_ shops: Delegates<any Shop>) {
  var open = 0
  func count(_ open: inout Int) { shops.forEach { open += $0.isOpen ? 1 : 0 } }
  shops.forEach(reversed: true, { open += $0.isOpen ? 1 : 0 })
  shops.forEach { shop in
    guard shop.isOpen else { return }
    open += 1
  }
  shops.forEach(opens)
  count(&open)
  Checks.expect(open, is: 6)
  do throws(Refusal) {
    try shops.forEach { shop throws(Refusal) in _ = try shop.refuses("Mallory") }
    Checks.expect(false, "forEach should have thrown")
  } catch {
    Checks.expect(error, is: Refusal())
  }
}

private actor CashDesk {
  private var open = 0

  func count(_ shops: Delegates<any Shop>) async {
    shops.forEach { if $0.isOpen { open += 1 } }
    await shops.forEach { if await $0.delivers(to: "Alice") { open += 1 } }
    Checks.expect(open, is: 4)
    await formsWhereTheCallerRuns(shops)
  }
}

@MainActor
private protocol Glass: AnyObject, Sendable {
  var isShown: Bool { get set }
}

@MainActor
private final class Pane: Glass {
  var isShown = false
}

@MainActor
private func formsOfForEachOnMainActor(_ hub: DelegateHub) async {
  let pane = Pane()
  hub.subscribe(pane, to: (any Glass).self)
  hub[(any Glass).self].forEach { $0.isShown = true }
  Checks.expect(pane.isShown, is: true)
  await hub[(any Glass).self].forEach { window in
    await Task.yield()
    window.isShown = false
  }
  Checks.expect(pane.isShown, is: false)
}
