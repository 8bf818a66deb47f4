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
  let doors = scene.hub[(any Door).self]

  let everybody = await doors.vote { await $0.mayEnter("Alice") }
  Checks.expect(everybody, is: true)
  scene.expectAsynchronous("mayEnter")

  let mallory = await doors.vote(
    by: .anyone, within: .seconds(60), absent: .counts(as: false)
  ) { await $0.mayEnter("Mallory") }
  Checks.expect(mallory, is: false)
  scene.expectAsynchronous("mayEnter")

  // A typed error is the call's own.
  do {
    _ = try await doors.vote { _ throws(Refusal) in throw Refusal() }
    Checks.expect(false, "it should have thrown")
  } catch {
    Checks.expect(error, is: Refusal())
  }

  // Two of the five are bouncers.
  let vetoed = await doors.vote(by: TwoVetoes()) { $0 is Bouncer }
  Checks.expect(vetoed, is: false)
  let late = await doors.ask(combining: .sum(), within: .seconds(60), absent: .counts(as: 10)) {
    door in
    if door is GuestBook { throw Refusal() }
    return 1
  }
  Checks.expect(late, is: 14)
  let product: Int = await doors.ask(combining: .reduce(1) { @Sendable in $0 * $1 }) { _ in 2 }
  Checks.expect(product, is: 32)

  let replies = await doors.collect { await $0.mayEnter("Alice") }
  Checks.expect(
    replies.map { (try? $0.result.get()) ?? false }, is: [true, true, true, true, true])
  scene.expectAsynchronous("mayEnter")

  let who = await doors.askInTurn(within: .seconds(60), absent: .abstains) { door in
    if door is Bouncer { throw Refusal() }
    return await door.mayEnter("Alice") ? "\(type(of: door))" : nil
  }
  Checks.expect(who, is: "GuestBook")
  scene.book.log.expect("mayEnter", at: .pool)

  let passed = await doors.pass(0) { door, count in
    await door.mayEnter("Alice") ? count + 1 : nil
  }
  Checks.expect(passed, is: 5)
  scene.expectAsynchronous("mayEnter")
}
