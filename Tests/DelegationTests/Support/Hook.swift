@testable import Delegation

/// An interceptor that does what a test says.
struct Hook: DelegateHub.Interceptor {
  typealias Next = nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome

  let body:
    nonisolated(nonsending) @Sendable (DelegateHub.HandlerCall, Next) async ->
      DelegateHub.HandlerOutcome

  init(
    _ body:
      nonisolated(nonsending) @escaping @Sendable (DelegateHub.HandlerCall, Next) async ->
      DelegateHub.HandlerOutcome
  ) {
    self.body = body
  }

  nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    await body(call, next)
  }

  /// Keeps handlers, or only the first, from being called until the gate opens.
  static func holding(at gate: Gate, firstOnly isFirstOnly: Bool = false) -> Hook {
    Hook { _, next in
      if !isFirstOnly || gate.arrived == 0 { await gate.pass() }
      return await next()
    }
  }

  /// Records what it sees, and binds its name.
  static func noting(_ name: String, in events: Recorder<String>) -> Hook {
    Hook { _, next in
      events.record("\(name) begins in \(Label.current)")
      let outcome = await Label.$current.withValue(name) { await next() }
      events.record("\(name) ends in \(Label.current): \(outcome)")
      return outcome
    }
  }
}

/// What interceptors and callers bind.
enum Label {
  @TaskLocal static var current = "nothing"
}
