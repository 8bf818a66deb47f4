// Boxes of their own, as one writes them for an array: a loop over weak references that are stored
// in the array itself copies each reference in order to look at it, which costs 15 ns more.

/// An entry of an array of voters.
final class WeakGatekeeper: Sendable {
  weak let value: (any Gatekeeper)?

  init(_ value: any Gatekeeper) { self.value = value }
}

/// An entry of an array of voters that answer at once.
final class WeakPromptGatekeeper: Sendable {
  weak let value: (any PromptGatekeeper)?

  init(_ value: any PromptGatekeeper) { self.value = value }
}

/// An entry of an array of listeners.
final class WeakListener: Sendable {
  weak let value: (any Listener)?

  init(_ value: any Listener) { self.value = value }
}

/// An entry of an array of listeners that may take their time.
final class WeakAsyncListener: Sendable {
  weak let value: (any AsyncListener)?

  init(_ value: any AsyncListener) { self.value = value }
}
