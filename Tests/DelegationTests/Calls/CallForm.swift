import Delegation

/// Each form of each call that runs handlers.
enum CallForm: String, CaseIterable, Sendable {
  case notify, notifyAwaiting, notifyOnMainActor
  case notifyAndWait, notifyAndWaitAwaiting, notifyAndWaitOnMainActor, notifyAndWaitWithin
  case vote, voteAwaiting, voteOnMainActor, voteAbsent, voteWithin
  case ask, askAwaiting, askOnMainActor, askAbsent, askWithin
  case collect, collectWithin
  case askInTurn, askInTurnAbsent, askInTurnWithin, askInTurnEachWithin
  case pass, passAbsent, passWithin, passEachWithin
  case voteAbsentOnMainActor, voteWithinOnMainActor, askAbsentOnMainActor, askWithinOnMainActor
  case collectOnMainActor, collectWithinOnMainActor
  case askInTurnOnMainActor, askInTurnWithinOnMainActor, passOnMainActor, passWithinOnMainActor

  /// What an interceptor is told.
  var call: String {
    // The longest name that it begins with.
    ["notifyAndWait", "notify", "vote", "askInTurn", "ask", "collect", "pass"]
      .first { rawValue.hasPrefix($0) } ?? ""
  }

  var isNotification: Bool { call.hasPrefix("notify") }
  var isOnMainActor: Bool { rawValue.hasSuffix("OnMainActor") }

  /// Makes the call, and waits until all have handled it.
  ///
  /// - Returns: what the call returned or threw, in words.
  func callAsFunction(
    _ all: Delegates<any Listener>, _ handle: @escaping @Sendable (any Listener) throws -> Void
  ) async -> String {
    let hour = Duration.seconds(3600)
    let yes: @Sendable (any Listener) throws -> Bool = {
      try handle($0)
      return true
    }
    let one: @Sendable (any Listener) throws -> Int = { try yes($0) ? 1 : 0 }
    let maybe: @Sendable (any Listener) throws -> Int? = one
    @Sendable func later<R: Sendable>(
      _ body: @Sendable (any Listener) throws -> R, _ probe: any Listener
    ) async throws -> R {
      await Task.yield()
      return try body(probe)
    }
    do {
      switch self {
      case .notify: all.notify { try handle($0) }
      case .notifyAwaiting: all.notify { try await later(handle, $0) }
      case .notifyOnMainActor: all.notify { @MainActor in try handle($0) }
      case .notifyAndWait: return text(await all.notifyAndWait { try handle($0) })
      case .notifyAndWaitAwaiting:
        return text(await all.notifyAndWait { try await later(handle, $0) })
      case .notifyAndWaitOnMainActor:
        return text(await all.notifyAndWait { @MainActor in try handle($0) })
      case .notifyAndWaitWithin:
        return text(await all.notifyAndWait(within: hour) { try handle($0) })
      case .vote: return text(try await all.vote { try yes($0) })
      case .voteAwaiting:
        return text(try await all.vote { try await later(yes, $0) })
      case .voteOnMainActor: return text(try await all.vote { @MainActor in try yes($0) })
      case .voteAbsent: return text(await all.vote(absent: .counts(as: false)) { try yes($0) })
      case .voteWithin:
        return text(await all.vote(within: hour, absent: .abstains) { try yes($0) })
      case .ask: return text(try await all.ask(combining: .sum()) { try one($0) })
      case .askAwaiting:
        return text(try await all.ask(combining: .sum()) { try await later(one, $0) })
      case .askOnMainActor:
        return text(try await all.ask(combining: .sum()) { @MainActor in try one($0) })
      case .askAbsent:
        return text(await all.ask(combining: .sum(), absent: .counts(as: 10)) { try one($0) })
      case .askWithin:
        return text(
          await all.ask(combining: .sum(), within: hour, absent: .abstains) { try one($0) })
      case .collect: return text(await all.collect { try one($0) }.map(\.result))
      case .collectWithin:
        return text(await all.collect(within: hour) { try one($0) }.map(\.result))
      case .askInTurn: return text(try await all.askInTurn { try maybe($0) })
      case .askInTurnAbsent:
        return text(await all.askInTurn(absent: .counts(as: 10)) { try maybe($0) })
      case .askInTurnWithin:
        return text(await all.askInTurn(within: hour, absent: .abstains) { try maybe($0) })
      case .askInTurnEachWithin:
        return text(
          await all.askInTurn(eachWithin: hour, absent: .counts(as: nil)) { try maybe($0) })
      case .pass: return text(try await all.pass(1) { try $1 + one($0) } as Int?)
      case .passAbsent:
        return text(await all.pass(1, absent: .counts(as: 10)) { try $1 + one($0) } as Int?)
      case .passWithin:
        return text(await all.pass(1, within: hour, absent: .abstains) { try $1 + one($0) } as Int?)
      case .passEachWithin:
        return
          text(
            await all.pass(1, eachWithin: hour, absent: .counts(as: nil)) { try $1 + one($0) }
              as Int?)
      case .voteAbsentOnMainActor:
        return text(await all.vote(absent: .counts(as: false)) { @MainActor in try yes($0) })
      case .voteWithinOnMainActor:
        return text(await all.vote(within: hour, absent: .abstains) { @MainActor in try yes($0) })
      case .askAbsentOnMainActor:
        return text(
          await all.ask(combining: .sum(), absent: .counts(as: 10)) { @MainActor in try one($0) })
      case .askWithinOnMainActor:
        return text(
          await all.ask(combining: .sum(), within: hour, absent: .abstains) { @MainActor in
            try one($0)
          })
      case .collectOnMainActor:
        return text(await all.collect { @MainActor in try one($0) }.map(\.result))
      case .collectWithinOnMainActor:
        return text(await all.collect(within: hour) { @MainActor in try one($0) }.map(\.result))
      case .askInTurnOnMainActor:
        return text(try await all.askInTurn { @MainActor in try maybe($0) })
      case .askInTurnWithinOnMainActor:
        return text(
          await all.askInTurn(within: hour, absent: .abstains) { @MainActor in try maybe($0) })
      case .passOnMainActor:
        return text(try await all.pass(1) { @MainActor in try $1 + one($0) } as Int?)
      case .passWithinOnMainActor:
        return text(
          await all.pass(1, within: hour, absent: .abstains) { @MainActor in try $1 + one($0) }
            as Int?)
      }
      return text(await all.hub.drain())
    } catch {
      return "threw \(error)"
    }
  }
}

private func text(_ value: some Any) -> String { "\(value)" }
