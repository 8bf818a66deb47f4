@testable import Delegation

/// The calls that run handlers.
enum Reach: CaseIterable {
  case notify, notifyAsynchronously, notifyAndWait
  case vote, ask, voteWithin, askWithin, collect, collectWithin, askInTurn, pass

  /// Those whose caller waits for what the handlers answer.
  static let asking = allCases.filter {
    ![.notify, .notifyAsynchronously, .notifyAndWait].contains($0)
  }

  /// Whether the handler may suspend.
  var isAsynchronous: Bool { self != .notify }

  /// Reaches every subscriber of `Listener` with a handler, and returns when all have handled it.
  func callAsFunction(
    _ hub: DelegateHub, suspending: Bool = true,
    _ handle: @escaping @Sendable (any Listener) -> Void
  ) async {
    @Sendable func handleTwice(_ probe: any Listener) async {
      handle(probe)
      guard suspending else { return }
      await Task.yield()
      handle(probe)
    }
    switch self {
    case .notify: hub[Listener.self].notify() { handle($0) }
    default: await call(hub, handleTwice)
    }
    switch self {
    case .notify, .notifyAsynchronously: await hub.drain()
    default: break
    }
  }

  /// Makes the call with an asynchronous handler, and returns when the call does.
  func call(
    _ hub: DelegateHub, _ handle: @escaping @Sendable (any Listener) async -> Void
  ) async {
    switch self {
    case .notify, .notifyAsynchronously:
      hub[Listener.self].notify() { await handle($0) }
    case .notifyAndWait:
      await hub[Listener.self].notifyAndWait() { await handle($0) }
    case .vote:
      _ = await hub[Listener.self].vote() { probe in
        await handle(probe)
        return true
      }
    case .ask:
      _ = await hub[Listener.self].ask(combining: .all()) { await handle($0) }
    case .voteWithin:
      _ = await hub[Listener.self].vote(within: .seconds(3600), absent: .abstains) { probe in
        await handle(probe)
        return true
      }
    case .askWithin:
      _ = await hub[Listener.self].ask(
        combining: .all(), within: .seconds(3600), absent: .abstains
      ) { await handle($0) }
    case .collect:
      _ = await hub[Listener.self].collect() { await handle($0) }
    case .collectWithin:
      _ = await hub[Listener.self].collect(within: .seconds(3600)) { await handle($0) }
    case .askInTurn:
      _ = await hub[Listener.self].askInTurn() { probe -> Int? in
        await handle(probe)
        return nil
      }
    case .pass:
      _ = await hub[Listener.self].pass(0) { probe, value in
        await handle(probe)
        return value
      }
    }
  }
}
