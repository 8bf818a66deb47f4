import Delegation

nonisolated struct Refusal: Error, Equatable {}

/// A combiner of the client's own: denies at the second "no".
nonisolated struct TwoVetoes: Combiner {
  private var vetoes = 0

  mutating func receive(_ response: Bool, from position: Int) -> Bool? {
    if !response { vetoes += 1 }
    return vetoes == 2 ? false : nil
  }

  mutating func finish() -> Bool { true }
}

func asking(from caller: isolated (any Actor)?) async {
  // What fails on purpose is not reported.
  let scene = Scene(DelegateHub.Configuration(onIncident: { _ in }))
  let hub = scene.hub

  let everybody = await hub.vote((any Door).self) { await $0.mayEnter("Alice") }
  Checks.expect(everybody, is: true)
  scene.expectAsynchronous("mayEnter")

  let mallory = await hub.vote(
    (any Door).self, by: .anyone, within: .seconds(60), absent: .counts(as: false)
  ) { await $0.mayEnter("Mallory") }
  Checks.expect(mallory, is: false)
  scene.expectAsynchronous("mayEnter")

  // A typed error is the call's own.
  do {
    _ = try await hub.vote((any Door).self) { _ throws(Refusal) in throw Refusal() }
    Checks.expect(false, "it should have thrown")
  } catch {
    Checks.expect(error, is: Refusal())
  }

  await rules(of: hub)
  await combiners(of: hub)

  let replies = await hub.collect((any Door).self) { await $0.mayEnter("Alice") }
  Checks.expect(
    replies.map { (try? $0.result.get()) ?? false }, is: [true, true, true, true, true])
  Checks.expect(replies.map(\.subscription.isActive), is: [true, true, true, true, true])
  scene.expectAsynchronous("mayEnter")

  let inTime = await hub.collect((any Door).self, within: .seconds(60)) { door -> Int in
    door.didEnter("Alice")
    throw Refusal()
  }
  Checks.expect(inTime.compactMap { try? $0.result.get() }, is: [])
  scene.expectSynchronous("didEnter")
}

private nonisolated func rules(of hub: DelegateHub) async {
  func vote(by rule: some Combiner<Bool, Bool>) async -> Bool {
    await hub.vote((any Door).self, by: rule) { $0 is Bouncer }
  }
  // Two of the five are bouncers.
  Checks.expect(await vote(by: .unanimous), is: false)
  Checks.expect(await vote(by: .unanimous(ofAtLeast: 1)), is: false)
  Checks.expect(await vote(by: .nobody), is: false)
  Checks.expect(await vote(by: .nobody(ofAtLeast: 6)), is: false)
  Checks.expect(await vote(by: .anyone), is: true)
  Checks.expect(await vote(by: .majority), is: false)
  Checks.expect(await vote(by: .atLeast(2)), is: true)
  Checks.expect(await vote(by: TwoVetoes()), is: false)
}

private nonisolated func combiners(of hub: DelegateHub) async {
  func ask<C: Combiner<Int, Outcome>, Outcome>(_ combiner: C) async -> Outcome {
    await hub.ask((any Door).self, combining: combiner) { $0 is Bouncer ? 2 : 1 }
  }
  let sum: Int = await ask(.sum())
  let first: Int? = await ask(.first())
  let smallest: Int? = await ask(.min())
  let largest: Int? = await ask(.max())
  let all: [Int] = await ask(.all())
  let product: Int = await ask(.reduce(1) { @Sendable in $0 * $1 })
  Checks.expect(sum, is: 7)
  Checks.expect(first == 1 || first == 2, "\(String(describing: first))")
  Checks.expect([smallest, largest], is: [1, 2])
  Checks.expect(all, is: [2, 1, 1, 2, 1])
  Checks.expect(product, is: 4)
  let objection = await hub.ask((any Door).self, combining: .firstNonNil()) { door in
    door is GuestBook ? "the book is full" : nil
  }
  Checks.expect(objection, is: "the book is full")
  let late = await hub.ask(
    (any Door).self, combining: .sum(), within: .seconds(60), absent: .counts(as: 10)
  ) { door in
    if door is GuestBook { throw Refusal() }
    return 1
  }
  Checks.expect(late, is: 14)
}

func askingInTurn(from caller: isolated (any Actor)?) async {
  let scene = Scene(DelegateHub.Configuration(onIncident: { _ in }))
  let hub = scene.hub

  let who = await hub.askInTurn((any Door).self) { await $0.mayEnter("Mallory") ? "Mallory" : nil }
  Checks.expect(who, is: nil)
  scene.expectAsynchronous("mayEnter")

  let inTime = await hub.askInTurn((any Door).self, within: .seconds(60), absent: .abstains) {
    door in
    if door is Bouncer { throw Refusal() }
    return await door.mayEnter("Alice") ? "\(type(of: door))" : nil
  }
  Checks.expect(inTime, is: "GuestBook")
  scene.book.log.expect("mayEnter", at: .pool)

  let passed = await hub.pass(0, through: (any Door).self) { door, count in
    await door.mayEnter("Alice") ? count + 1 : nil
  }
  Checks.expect(passed, is: 5)
  scene.expectAsynchronous("mayEnter")

  let passedInTime = await hub.pass(
    0, through: (any Door).self, within: .seconds(60), absent: .counts(as: nil)
  ) { door, count in
    if door is Vault { throw Refusal() }
    door.didEnter("Alice")
    return count + 1
  }
  Checks.expect(passedInTime, is: nil)
}
