import DelegationAdapters
import Logging
import ServiceLifecycle

/// What one writes first: actors that hold delegates in arrays, a task group for each question, and a
/// stream of what is to be told, so that it is told in order.
final class ActorEngine: Engine {
  private let roster = ExtensionRoster()
  private let (events, posted) = AsyncStream<Event>.makeStream()
  private let audiences = ActorAudienceList()
  private let deadline: Duration

  private enum Event: Sendable {
    case tell(@Sendable (any RoomObserver) -> Void)
    case pass(CheckedContinuation<Void, Never>)
  }

  init(deadline: Duration) {
    self.deadline = deadline
    Task { [events, roster] in
      for await event in events {
        switch event {
        case .tell(let body): for observer in await roster.observers { body(observer) }
        case .pass(let continuation): continuation.resume()
        }
      }
    }
  }

  func add(_ extension: any ServerExtension) async {
    await roster.add(`extension`)
  }

  func remove(_ extension: any ServerExtension) async {
    await roster.remove(`extension`)
  }

  func user(for credentials: Credentials) async -> User? {
    for authenticator in await roster.authenticators {
      switch await authenticator.user(for: credentials) {
      case .yes(let user): return user
      case .no: return nil
      case nil: continue
      }
    }
    return nil
  }

  func mayJoin(_ room: String, _ user: User) async -> Bool {
    let rules = await roster.joinRules
    return await withDeadline(deadline, else: false) { answer in
      await withTaskGroup { group in
        for rule in rules { group.addTask { await rule.mayJoin(room, user) } }
        for await isAllowed in group where !isAllowed { return answer(false) }
        answer(true)
      }
    }
  }

  func verdict(on draft: Draft) async -> Verdict {
    let rules = await roster.messageRules
    return await withDeadline(deadline, else: .agrees) { answer in
      await withTaskGroup { group in
        for rule in rules { group.addTask { await rule.verdict(on: draft) } }
        for await verdict in group where verdict != .agrees { return answer(verdict) }
        answer(.agrees)
      }
    }
  }

  func rewritten(_ draft: Draft) async -> String? {
    var text: String? = draft.text
    for rewriter in await roster.rewriters {
      guard let present = text else { return nil }
      text = await rewriter.rewrite(present, of: draft)
    }
    return text
  }

  func tell(_ event: @escaping @Sendable (any RoomObserver) -> Void) {
    posted.yield(.tell(event))
  }

  func recent(_ count: Int, in room: String) async -> [Message] {
    for keeper in await roster.historyKeepers {
      if let messages = await keeper.recent(count, in: room) { return messages }
    }
    return []
  }

  func people(in room: String) async -> [String] {
    var people: [String] = []
    for keeper in await roster.presenceKeepers { people += await keeper.people(in: room) }
    return people
  }

  func makeAudience() -> any Audience {
    let audience = ActorAudience()
    audiences.add(audience)
    return audience
  }

  func makeDrainService(
    within duration: Duration, logger: Logger, after settle: @escaping @Sendable () async -> Void
  ) -> any Service {
    EngineDrainService(duration: duration, logger: logger, settle: settle) { [posted, audiences] in
      await withCheckedContinuation { _ = posted.yield(.pass($0)) }
      for audience in audiences.all { await audience.drain() }
    }
  }

  func makeMetricsService(every interval: Duration) -> (any Service)? { nil }

  func report() async -> String { "this engine keeps no accounts" }

  func accounts() async -> Accounts? { nil }
}
