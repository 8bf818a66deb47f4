import DelegationAdapters
import Dispatch
import Logging
import ServiceLifecycle

/// What one wrote before: a serial queue for each delegate, on which it is told.
///
/// Questions are asked in tasks that are started on the delegates' queues.
final class QueueEngine: Engine {
  private let roster = QueueRoster()
  private let guards = Guards()
  private let deadline: Duration
  private let faults: FaultLog
  /// Everything that is being told.
  private let telling = DispatchGroup()

  init(deadline: Duration, faults: FaultLog) {
    self.deadline = deadline
    self.faults = faults
  }

  func add(_ extension: any ServerExtension) async {
    guards.add(`extension`)
    roster.add(`extension`)
  }

  func remove(_ extension: any ServerExtension) async {
    roster.remove(`extension`)
  }

  func user(for credentials: Credentials) async -> Recognition {
    let inquiry = Inquiry(credentials, guards)
    return inquiry.recognition(
      by: await InTurn.first(
        of: roster.all((any Authenticator).self).map(\.0), within: deadline
      ) { await inquiry.ask($0) })
  }

  func mayJoin(_ room: String, _ user: User) async -> Verdict {
    let rules = roster.all((any JoinRule).self)
    var consent = Consent(of: guards.names.joinRules)
    // One that objects answers at once, so that at the end all of them have agreed.
    for (rule, _) in rules { _ = consent.receive(Vote(name: rule.name, verdict: .agrees), from: 0) }
    let outcome = consent.finish()
    return await withDeadline(deadline, else: .late) { answer in
      let answers = Countdown(rules.count) { answer(outcome) }
      for (rule, queue) in rules {
        queue.async {
          Task {
            let verdict = await rule.verdict(on: room, user)
            verdict == .agrees ? answers.count() : answer(verdict)
          }
        }
      }
    }
  }

  func verdict(on draft: Draft) async -> Verdict {
    var consent = Consent(of: guards.names.messageGates)
    for (gate, _) in roster.all((any MessageGate).self) {
      let vote = Vote(name: gate.name, verdict: gate.verdict(on: draft))
      if let verdict = consent.receive(vote, from: 0) { return verdict }
    }
    let verdict = consent.finish()
    guard verdict == .agrees else { return verdict }
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
    await InTurn.pass(
      draft.text, through: roster.all((any MessageRewriter).self).map(\.0), within: deadline
    ) { await $0.rewrite($1, of: draft) }
  }

  func tell(_ event: @escaping @Sendable (any RoomObserver) throws -> Void) {
    for (observer, queue) in roster.all((any RoomObserver).self) {
      queue.async(group: telling) { [faults] in faults.catching { try event(observer) } }
    }
  }

  func recent(_ count: Int, in room: String) async -> [Message] {
    await InTurn.first(of: roster.all((any HistoryKeeper).self).map(\.0), within: deadline) {
      await $0.recent(count, in: room)
    } ?? []
  }

  func people(in room: String) async -> [String] {
    await InTurn.pass([], through: roster.all((any PresenceKeeper).self).map(\.0), within: deadline)
    {
      $1 + (await $0.people(in: room))
    } ?? []
  }

  func makeAudience(of room: String) -> any Audience {
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
