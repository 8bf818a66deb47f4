@testable import Delegation

/// Makes the call that a plan names.
extension QuizQuestion {
  func call() async -> QuizOutcome {
    do throws(QuizRefusal) {
      switch plan.kind {
      case .unanimous: return .decision(try await vote(by: .unanimous))
      case .anyone: return .decision(try await vote(by: .anyone))
      case .majority: return .decision(try await vote(by: .majority))
      case .all: return .replies(try await all())
      case .collect: return .results(await collect())
      }
    } catch {
      return .refused(error)
    }
  }

  private var hub: DelegateHub { world.hub }
  private var speakers: Delegates<any QuizSpeaker> {
    hub[QuizVoter.self].conforming(to: QuizSpeaker.self)
  }
  private var duration: Duration? {
    plan.form == .within ? .milliseconds(plan.milliseconds) : nil
  }

  private func vote(by rule: some Combiner<Bool, Bool>) async throws(QuizRefusal) -> Bool {
    let absence: DelegateHub.Absence<Bool> = plan.substitute.map { .counts(as: $0) } ?? .abstains
    switch (plan.form, plan.isNarrowed) {
    case (.inPlace, false):
      return try await hub[QuizVoter.self].vote(by: rule) {
        (member: any QuizVoter) throws(QuizRefusal) -> Bool in
        try self.say(member.record)
      }
    case (.inPlace, true):
      return try await speakers.vote(by: rule) {
        (member: any QuizSpeaker) throws(QuizRefusal) -> Bool in
        try self.say(member.record)
      }
    case (.awaiting, false):
      return try await hub[QuizVoter.self].vote(by: rule) {
        (member: any QuizVoter) async throws(QuizRefusal) -> Bool in
        try await self.say(member.record)
      }
    case (.awaiting, true):
      return try await speakers.vote(by: rule) {
        (member: any QuizSpeaker) async throws(QuizRefusal) -> Bool in
        try await self.say(member.record)
      }
    case (_, false):
      return await hub[QuizVoter.self].vote(by: rule, within: duration, absent: absence) {
        try await self.say($0.record)
      }
    case (_, true):
      return await speakers.vote(by: rule, within: duration, absent: absence) {
        try await self.say($0.record)
      }
    }
  }

  private func all() async throws(QuizRefusal) -> [QuizReply] {
    let absence: DelegateHub.Absence<QuizReply> =
      plan.substitute == nil ? .abstains : .counts(as: QuizReply(question: number, serial: 0))
    switch (plan.form, plan.isNarrowed) {
    case (.inPlace, false):
      return try await hub[QuizVoter.self].ask(combining: .all()) {
        (member: any QuizVoter) throws(QuizRefusal) -> QuizReply in
        try self.reply(of: member.record)
      }
    case (.inPlace, true):
      return try await speakers.ask(combining: .all()) {
        (member: any QuizSpeaker) throws(QuizRefusal) -> QuizReply in
        try self.reply(of: member.record)
      }
    case (.awaiting, false):
      return try await hub[QuizVoter.self].ask(combining: .all()) {
        (member: any QuizVoter) async throws(QuizRefusal) -> QuizReply in
        try await self.reply(of: member.record)
      }
    case (.awaiting, true):
      return try await speakers.ask(combining: .all()) {
        (member: any QuizSpeaker) async throws(QuizRefusal) -> QuizReply in
        try await self.reply(of: member.record)
      }
    case (_, false):
      return await hub[QuizVoter.self].ask(combining: .all(), within: duration, absent: absence
      ) { try await self.reply(of: $0.record) }
    case (_, true):
      return await speakers.ask(combining: .all(), within: duration, absent: absence) {
        try await self.reply(of: $0.record)
      }
    }
  }

  private func collect() async -> [QuizOutcome.Result] {
    let replies =
      switch (plan.form, plan.isNarrowed) {
      case (.inPlace, false):
        await hub[QuizVoter.self].collect() { try self.reply(of: $0.record) }
      case (.inPlace, true):
        await speakers.collect { try self.reply(of: $0.record) }
      case (_, false):
        await hub[QuizVoter.self].collect(within: duration) {
          try await self.reply(of: $0.record)
        }
      case (_, true):
        await speakers.collect(within: duration) { try await self.reply(of: $0.record) }
      }
    return replies.map { reply in
      var (value, error): (QuizReply?, (any Error)?)
      switch reply.result {
      case .success(let reply): value = reply
      case .failure(let failure): error = failure
      }
      return QuizOutcome.Result(
        member: world.record(of: reply.subscription), reply: value,
        refusal: error as? QuizRefusal, isLate: error as? DelegateHub.ReplyError == .timedOut)
    }
  }

  private func reply(of record: QuizRecord) throws(QuizRefusal) -> QuizReply {
    _ = try say(record) as Bool
    return QuizReply(question: number, serial: record.serial)
  }

  private func reply(of record: QuizRecord) async throws(QuizRefusal) -> QuizReply {
    _ = try await say(record) as Bool
    return QuizReply(question: number, serial: record.serial)
  }
}
