// What would run code of the main actor elsewhere, in a module that is isolated to it by default. Swift 6
// refuses the marked lines, Swift 5 warns of them, and neither says anything of the others.
import Delegation

/// Isolated to the main actor, as nothing else is said.
protocol Lamp: AnyObject, Sendable {
  func light()
}

nonisolated protocol Door: AnyObject, Sendable {
  func open()
  func close() async
}

func call(_ hub: DelegateHub) {
  hub[(any Lamp).self].notify { $0.light() }  // refused
  hub[(any Lamp).self].notify { await $0.light() }
  hub[(any Lamp).self].notify { @MainActor in $0.light() }
}

/// Nonisolated, as the protocol is.
final class Gate: Door {
  func open() {}
  func close() async {}
}

@MainActor
final class Shutter: Door {  // refused
  func open() {}
  func close() {}
}

@MainActor
final class Blind: Door {
  nonisolated func open() {}
  func close() {}
}
