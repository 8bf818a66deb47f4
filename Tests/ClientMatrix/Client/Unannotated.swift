import Delegation

// What a module writes that says nothing about isolation. Where its default is the main actor, all of it
// belongs there: the protocol, the class, its methods.

protocol Lamp: AnyObject, Sendable {
  func light()
  func isBroken() async -> Bool
}

final class Bulb: Lamp {
  nonisolated let log = Log()

  nonisolated init() {}

  func light() { log.note("light") }

  func isBroken() async -> Bool {
    log.note("isBroken")
    return false
  }
}

#if MAIN_ACTOR_BY_DEFAULT
  private nonisolated let home = Place.mainActor
#else
  private nonisolated let home = Place.pool
#endif

func unannotated(from caller: isolated (any Actor)?) async {
  let hub = DelegateHub()
  let bulb = Bulb()
  hub.subscribe(bulb, to: (any Lamp).self)
  #if !hasFeature(ExistentialAny)
    // The short spelling is the same protocol.
    Checks.expect(hub[Lamp.self].isEmpty, is: false)
  #endif

  #if MAIN_ACTOR_BY_DEFAULT
    // Without `await` or `@MainActor` it does not compile in Swift 6.
    hub[(any Lamp).self].notify { await $0.light() }
    hub[(any Lamp).self].notify { @MainActor in $0.light() }
  #else
    hub[(any Lamp).self].notify { $0.light() }
    hub[(any Lamp).self].notify { lamp in lamp.light() }
  #endif
  await hub.drain()
  bulb.log.expect("light", "light", at: home)

  let isBroken = await hub[(any Lamp).self].vote { await $0.isBroken() }
  Checks.expect(isBroken, is: false)
  bulb.log.expect("isBroken", at: home)
}
