import Delegation

// `forEach` in every form: the closure stays where the caller runs, and need not be `Sendable`.

nonisolated func formsOfForEach(_ hub: DelegateHub) async {
  let shop = (any Shop).self
  formsInSynchronousCode(hub, shop)
  // In an asynchronous context, too, a closure that awaits nothing takes the synchronous form.
  var open = 0
  hub.forEach(shop) { if $0.isOpen { open += 1 } }
  await hub.forEach(shop) { if await $0.delivers(to: "Alice") { open += 1 } }
  await hub.forEach(shop, reversed: true) { shop in
    let isDelivered = await shop.delivers(to: "Alice")
    guard isDelivered else { return }
    open += 1
  }
  Checks.expect(open, is: 6)
  await formsOfDelegatesForEach(hub.delegates(shop))
  do throws(Refusal) {
    try await hub.forEach(shop) { shop async throws(Refusal) in
      _ = try await shop.fails("Mallory")
    }
    Checks.expect(false, "forEach should have thrown")
  } catch {
    Checks.expect(error, is: Refusal())
  }
  await CashDesk().count(hub)
  await formsOfForEachOnMainActor(hub)
}

private nonisolated func opens(_ shop: any Shop) { _ = shop.isOpen }
private nonisolated(nonsending) func delivers(_ shop: any Shop) async {
  _ = await shop.delivers(to: "Alice")
}

/// Stays where its caller runs, and calls there.
private nonisolated(nonsending) func formsOfDelegatesForEach(_ shops: Delegates<any Shop>) async {
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

private nonisolated func formsInSynchronousCode(_ hub: DelegateHub, _ shop: (any Shop).Type) {
  let delegates = hub.delegates(shop)
  var open = 0
  func count(_ open: inout Int) { delegates.forEach { open += $0.isOpen ? 1 : 0 } }
  hub.forEach(shop) { open += $0.isOpen ? 1 : 0 }
  hub.forEach(shop, reversed: true, { open += $0.isOpen ? 1 : 0 })
  hub.forEach(shop) { shop in
    guard shop.isOpen else { return }
    open += 1
  }
  hub.forEach(shop, opens)
  count(&open)
  Checks.expect(open, is: 8)
  do throws(Refusal) {
    try delegates.forEach { shop throws(Refusal) in _ = try shop.refuses("Mallory") }
    Checks.expect(false, "forEach should have thrown")
  } catch {
    Checks.expect(error, is: Refusal())
  }
}

private actor CashDesk {
  private var open = 0

  func count(_ hub: DelegateHub) async {
    hub.forEach((any Shop).self) { if $0.isOpen { open += 1 } }
    await hub.forEach((any Shop).self) { if await $0.delivers(to: "Alice") { open += 1 } }
    Checks.expect(open, is: 4)
    await formsOfDelegatesForEach(hub.delegates((any Shop).self))
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
  hub.forEach((any Glass).self) { $0.isShown = true }
  Checks.expect(pane.isShown, is: true)
  await hub.forEach((any Glass).self) { window in
    await Task.yield()
    window.isShown = false
  }
  Checks.expect(pane.isShown, is: false)
}
