import DelegationAdapters
import Dispatch
import Logging
import ServiceLifecycle

/// What one wrote before: a serial queue for each delegate, on which it is told.
///
/// Questions are asked in tasks that are started on the delegates' queues.
final class QueueEngine: Engine {
  private let roster = QueueRoster()
  private let deadline: Duration
  /// Everything that is being told.
  private let telling = DispatchGroup()

  init(deadline: Duration) {
    self.deadline = deadline
  }

  func add(_ extension: any ServerExtension) async {
    roster.add(`extension`)
  }

  func remove(_ extension: any ServerExtension) async {
    roster.remove(`extension`)
  }

  func user(for credentials: Credentials) async -> User? {
    for (authenticator, _) in roster.all((any Authenticator).self) {
      switch await authenticator.user(for: credentials) {
      case .yes(let user): return user
      case .no: return nil
      case nil: continue
      }
    }
    return nil
  }

  func mayJoin(_ room: String, _ user: User) async -> Bool {
    let rules = roster.all((any JoinRule).self)
    return await withDeadline(deadline, else: false) { answer in
      let answers = Countdown(rules.count) { answer(true) }
      for (rule, queue) in rules {
        queue.async {
          Task { await rule.mayJoin(room, user) ? answers.count() : answer(false) }
        }
      }
    }
  }

  func verdict(on draft: Draft) async -> Verdict {
    let rules = roster.all((any MessageRule).self)
    return await withDeadline(deadline, else: .agrees) { answer in
      let answers = Countdown(rules.count) { answer(.agrees) }
      for (rule, queue) in rules {
        queue.async {
          Task {
            let verdict = await rule.verdict(on: draft)
            verdict == .agrees ? answers.count() : answer(verdict)
          }
        }
      }
    }
  }

  func rewritten(_ draft: Draft) async -> String? {
    var text: String? = draft.text
    for (rewriter, _) in roster.all((any MessageRewriter).self) {
      guard let present = text else { return nil }
      text = await rewriter.rewrite(present, of: draft)
    }
    return text
  }

  func tell(_ event: @escaping @Sendable (any RoomObserver) -> Void) {
    for (observer, queue) in roster.all((any RoomObserver).self) {
      queue.async(group: telling) { event(observer) }
    }
  }

  func recent(_ count: Int, in room: String) async -> [Message] {
    for (keeper, _) in roster.all((any HistoryKeeper).self) {
      if let messages = await keeper.recent(count, in: room) { return messages }
    }
    return []
  }

  func people(in room: String) async -> [String] {
    var people: [String] = []
    for (keeper, _) in roster.all((any PresenceKeeper).self) {
      people += await keeper.people(in: room)
    }
    return people
  }

  func makeAudience() -> any Audience {
    QueueAudience(telling: telling)
  }

  func makeDrainService(
    within duration: Duration, logger: Logger, after settle: @escaping @Sendable () async -> Void
  ) -> any Service {
    EngineDrainService(duration: duration, logger: logger, settle: settle) { [telling] in
      await withCheckedContinuation { continuation in
        telling.notify(queue: .global()) { continuation.resume() }
      }
    }
  }

  func makeMetricsService(every interval: Duration) -> (any Service)? { nil }

  func report() async -> String { "this engine keeps no accounts" }

  func accounts() async -> Accounts? { nil }
}
