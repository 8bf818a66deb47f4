import DelegationAdapters
import Logging
import ServiceLifecycle

/// What one writes first: actors that hold delegates in arrays, a task group for each question, and a
/// stream of what is to be told, so that it is told in order.
final class ActorEngine: Engine {
  private let roster = ExtensionRoster()
  private let guards = Guards()
  private let (events, posted) = AsyncStream<Event>.makeStream()
  private let audiences = ActorAudienceList()
  private let deadline: Duration

  private enum Event: Sendable {
    case tell(@Sendable (any RoomObserver) throws -> Void)
    case pass(CheckedContinuation<Void, Never>)
  }

  init(deadline: Duration, faults: FaultLog) {
    self.deadline = deadline
    Task { [events, roster] in
      for await event in events {
        switch event {
        case .tell(let body):
          for observer in await roster.observers { faults.catching { try body(observer) } }
        case .pass(let continuation): continuation.resume()
        }
      }
    }
  }

  func add(_ extension: any ServerExtension) async {
    guards.add(`extension`)
    await roster.add(`extension`)
  }

  func remove(_ extension: any ServerExtension) async {
    await roster.remove(`extension`)
  }

  func user(for credentials: Credentials) async -> Recognition {
    let inquiry = Inquiry(credentials, guards)
    return inquiry.recognition(
      by: await InTurn.first(of: await roster.authenticators, within: deadline) {
        await inquiry.ask($0)
      })
  }

  func mayJoin(_ room: String, _ user: User) async -> Verdict {
    let rules = await roster.joinRules
    let consent = Consent(of: guards.names.joinRules)
    return await withDeadline(deadline, else: .late) { answer in
      await withTaskGroup { group in
        for rule in rules {
          group.addTask { Vote(name: rule.name, verdict: await rule.verdict(on: room, user)) }
        }
        var consent = consent
        for await vote in group {
          if let verdict = consent.receive(vote, from: 0) { return answer(verdict) }
        }
        answer(consent.finish())
      }
    }
  }

  func verdict(on draft: Draft) async -> Verdict {
    var consent = Consent(of: guards.names.messageGates)
    for gate in await roster.messageGates {
      let vote = Vote(name: gate.name, verdict: gate.verdict(on: draft))
      if let verdict = consent.receive(vote, from: 0) { return verdict }
    }
    let verdict = consent.finish()
    guard verdict == .agrees else { return verdict }
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
    await InTurn.pass(
      draft.text, through: await roster.rewriters, within: deadline
    ) { await $0.rewrite($1, of: draft) }
  }

  func tell(_ event: @escaping @Sendable (any RoomObserver) throws -> Void) {
    posted.yield(.tell(event))
  }

  func recent(_ count: Int, in room: String) async -> [Message] {
    await InTurn.first(of: await roster.historyKeepers, within: deadline) {
      await $0.recent(count, in: room)
    } ?? []
  }

  func people(in room: String) async -> [String] {
    await InTurn.pass([], through: await roster.presenceKeepers, within: deadline) {
      $1 + (await $0.people(in: room))
    } ?? []
  }

  func makeAudience(of room: String) -> any Audience {
    let audience = ActorAudience(of: audiences)
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
