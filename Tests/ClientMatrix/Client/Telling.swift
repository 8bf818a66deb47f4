import Delegation

/// One subscriber of each kind, and a hub that has them.
nonisolated struct Scene: Sendable {
  let hub: DelegateHub
  let queue = Place.makeExecutor()
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

/// In a release build too, where the compiler may leave out a switch from the main actor before the call.
@MainActor
private func tellAndWait(_ scene: Scene) async {
  let doors = scene.hub[(any Door).self]
  await doors.notifyAndWait { $0.didEnter("Carol") }
  scene.expectSynchronous("didEnter")
  await doors.notifyAndWait { await $0.greet("Carol") }
  scene.expectAsynchronous("greet")
  await Task.detached(executorPreference: scene.queue) {
    _ = await doors.notifyAndWait { $0.didEnter("Dora") }
  }.value
  scene.expectSynchronous("didEnter")
}

func telling(from caller: isolated (any Actor)?) async {
  let scene = Scene()
  let (hub, doors) = (scene.hub, scene.hub[(any Door).self])

  doors.notify { $0.didEnter("Alice") }
  await hub.drain()
  scene.expectSynchronous("didEnter")

  doors.notify { await $0.greet("Alice") }
  await hub.drain()
  scene.expectAsynchronous("greet")

  let outcome = await doors.notifyAndWait(leaving: 0, within: .seconds(60)) {
    await $0.greet("Alice")
  }
  Checks.expect(outcome.isHandled && outcome.addressed == 5, "\(outcome)")
  scene.expectAsynchronous("greet")

  await tellAndWait(scene)
  await doors.notifyAndWait { await $0.greet("Bob") }
  scene.expectAsynchronous("greet")
  await doors.notifyAndWait { $0.didEnter("Bob") }
  scene.expectSynchronous("didEnter")

  // The body belongs to the caller, and runs where the caller runs.
  let isOnMain = caller != nil
  let place = await hub.delayingDrain { Place.current }
  Checks.expect(place == .mainActor, is: isOnMain)
}

/// A protocol of the main actor, by all calls, from closures that await and from ones that are there.
func viewing(from caller: isolated (any Actor)?) async {
  let hub = DelegateHub()
  let (window, views) = (Window(), hub[(any View).self])
  hub.subscribe(window, to: (any View).self)

  views.notify { _ = await $0.show("one") }
  views.notify { @MainActor in _ = $0.show("two") }
  views.notify { @MainActor in $0.lines.append("three") }
  views.notify { @MainActor view in
    _ = view.show("four")
    _ = await view.load()
  }
  await views.notifyAndWait { @MainActor in $0.lines.append("five") }
  window.log.expect("show", "show", "show", "load", at: .mainActor)
  let lines = await window.lines
  Checks.expect(lines, is: ["one", "two", "three", "four", "five"])

  let first = await views.askInTurn { await $0.lines.first }
  Checks.expect(first, is: "one")
  let last = await views.pass("") { view, text in await text + (view.lines.last ?? "") }
  Checks.expect(last, is: "five")
}
