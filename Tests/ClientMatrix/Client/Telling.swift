import Delegation
import Dispatch

/// One subscriber of each kind, and a hub that has them.
nonisolated struct Scene: Sendable {
  let hub: DelegateHub
  let queue = Place.makeQueue()
  let bouncer = Bouncer()
  let book = GuestBook()
  let porch = Porch()
  let keeper = Bouncer()
  let vault: Vault

  init(_ configuration: DelegateHub.Configuration = DelegateHub.Configuration()) {
    hub = DelegateHub(configuration)
    vault = Vault(on: queue)
    hub.subscribe(bouncer, to: (any Door).self)
    hub.subscribe(book, to: (any Door).self)
    hub.subscribe(porch, to: (any Door).self)
    hub.subscribe(keeper, to: (any Door).self, on: queue)
    hub.subscribe(vault, to: (any Door).self)
  }

  /// Checks that the synchronous method ran on workers, and on the queue for those that are there.
  func expectSynchronous(_ method: String, line: UInt = #line) {
    bouncer.log.expect(method, at: .pool, line: line)
    book.log.expect(method, at: .pool, line: line)
    porch.log.expect(method, at: .pool, line: line)
    keeper.log.expect(method, at: .queue, line: line)
    vault.log.expect(method, at: .pool, line: line)
  }

  /// Checks that the asynchronous method ran where each subscriber lives.
  func expectAsynchronous(_ method: String, line: UInt = #line) {
    bouncer.log.expect(method, at: .pool, line: line)
    book.log.expect(method, at: .pool, line: line)
    porch.log.expect(method, at: .mainActor, line: line)
    keeper.log.expect(method, at: .queue, line: line)
    vault.log.expect(method, at: .queue, line: line)
  }
}

func telling(from caller: isolated (any Actor)?) async {
  let scene = Scene()
  let hub = scene.hub

  hub.notify((any Door).self) { $0.didEnter("Alice") }
  await hub.drain()
  scene.expectSynchronous("didEnter")

  hub.notify((any Door).self) { await $0.greet("Alice") }
  await hub.drain()
  scene.expectAsynchronous("greet")

  await hub.notifyAndWait((any Door).self) { await $0.greet("Alice") }
  scene.expectAsynchronous("greet")

  let left = await hub.notifyAndWait((any Door).self, within: .seconds(60)) { $0.didEnter("Bob") }
  Checks.expect(left.isEmpty, "\(left)")
  scene.expectSynchronous("didEnter")

  let nothing = await hub.drain(within: .seconds(60))
  Checks.expect(nothing.subscribers.isEmpty && nothing.delays == 0, "\(nothing)")

  // The body belongs to the caller, and runs where the caller runs.
  let isOnMain = caller != nil
  let place = await hub.delayingDrain { Place.current }
  Checks.expect(place == .mainActor, is: isOnMain)
}

/// A protocol of the main actor, by all calls, from closures that await and from ones that are there.
func viewing(from caller: isolated (any Actor)?) async {
  let hub = DelegateHub()
  let window = Window()
  hub.subscribe(window, to: (any View).self)

  hub.notify((any View).self) { _ = await $0.show("one") }
  hub.notify((any View).self) { @MainActor in _ = $0.show("two") }
  hub.notify((any View).self) { @MainActor in $0.lines.append("three") }
  hub.notify((any View).self) { @MainActor view in
    _ = view.show("four")
    _ = await view.load()
  }
  await hub.notifyAndWait((any View).self) { @MainActor in $0.lines.append("five") }
  window.log.expect("show", "show", "show", "load", at: .mainActor)
  let lines = await window.lines
  Checks.expect(lines, is: ["one", "two", "three", "four", "five"])

  let views = hub.delegates((any View).self)
  views.notify { _ = await $0.load() }
  views.notify { @MainActor in _ = $0.show("six") }
  await views.notifyAndWait { @MainActor in _ = $0.show("seven") }
  window.log.expect("load", "show", "show", at: .mainActor)

  let isShown = await hub.vote((any View).self) { await $0.show("eight") }
  let isShownThere = await hub.vote((any View).self) { @MainActor in $0.show("nine") }
  let isLoaded = await hub.vote((any View).self, within: .seconds(60), absent: .abstains) {
    await $0.load()
  }
  Checks.expect([isShown, isShownThere, isLoaded], is: [true, true, true])
  window.log.expect("show", "show", "load", at: .mainActor)

  let counts = await hub.ask((any View).self, combining: .sum()) { await $0.lines.count }
  Checks.expect(counts, is: 9)
  let replies = await hub.collect((any View).self) { @MainActor in $0.lines.count }
  Checks.expect(replies.compactMap { try? $0.result.get() }, is: [9])
  let first = await hub.askInTurn((any View).self) { await $0.lines.first }
  Checks.expect(first, is: "one")
  let last = await hub.pass("", through: (any View).self) { view, text in
    await text + (view.lines.last ?? "")
  }
  Checks.expect(last, is: "nine")
}
