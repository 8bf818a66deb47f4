import Synchronization

@testable import Delegation

/// What a question's handlers do.
extension QuizQuestion {
  /// The handler of a closure that awaits nothing.
  func say(_ record: QuizRecord) throws(QuizRefusal) -> Bool {
    let act = begin(record)
    perform(act.deed, on: record)
    if act.opensRelay { relay.open() }
    return try end(record, act)
  }

  /// The handler of one that awaits.
  func say(_ record: QuizRecord) async throws(QuizRefusal) -> Bool {
    let act = begin(record)
    perform(act.deed, on: record)
    await wait(for: act.deed, on: record)
    await hold(act.hold, on: record)
    if act.opensRelay { relay.open() }
    checkTaskLocal(record)
    return try end(record, act)
  }

  private func begin(_ record: QuizRecord) -> QuizAct {
    record.running.wrappingAdd(1, ordering: .sequentiallyConsistent)
    let isSilenced = record.isSilenced.load(ordering: .sequentiallyConsistent)
    let ended = record.ended.load(ordering: .sequentiallyConsistent)
    let now = QuizClock.tick()
    let (former, first, returned) = log.withLock { log in
      let former = log.stages.updateValue(.begun, forKey: record.serial)
      if log.first == 0 { log.first = now }
      if log.returned > 0 { log.late += 1 }
      return (former, log.first, log.returned)
    }
    if let former { report("\(record) is asked again, after \(former)") }
    if isSilenced { report("\(record) is asked after cancelAndWait() has returned") }
    if ended > 0, ended < asked { report("\(record) is asked, but had ended before the call") }
    if record.subscribing > first { report("\(record) has subscribed after the first was asked") }
    if returned > 0, record.subscribing > returned { report("\(record) came after the return") }
    if plan.isNarrowed, !record.speaks { report("\(record) does not conform, but is asked") }
    if plan.form == .within, plan.milliseconds == 0 { report("\(record) is asked within 0") }
    checkTaskLocal(record)
    return plan.act(of: record)
  }

  private func checkTaskLocal(_ record: QuizRecord) {
    let bound = Self.current
    if bound != number { report("the handler of \(record) sees the task-local \(bound)") }
  }

  private func end(_ record: QuizRecord, _ act: QuizAct) throws(QuizRefusal) -> Bool {
    log.withLock { $0.stages[record.serial] = .answered(act.answer) }
    record.running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    if act.answer == .threw {
      throw QuizRefusal(reply: QuizReply(question: number, serial: record.serial))
    }
    return act.answer == .yes
  }

  private func perform(_ deed: QuizAct.Deed, on record: QuizRecord) {
    let choice = number
    switch deed {
    case .notify: world.hub[QuizVoter.self].notify() { _ in await Task.yield() }
    case .subscribe:
      var dice = Dice(seed: plan.seed)
      if world.present.count < 10 { world.join(&dice) }
    case .dies: world.drop(record)
    case .othersDie: world.drop(nil, choice)
    case .cancelsItself: world.cancel(record)
    case .cancelsOther: world.cancel(nil, choice)
    case .none, .endsItself, .endsOther, .asks, .drains: break
    }
  }

  private func wait(for deed: QuizAct.Deed, on record: QuizRecord) async {
    switch deed {
    case .endsItself: await world.cancelAndWait(record)
    case .endsOther: await world.cancelAndWait(nil, number)
    case .drains: _ = await world.hub.drain(within: .milliseconds(1))
    case .asks:
      let plan = QuizPlan(seed: plan.seed &+ UInt64(record.serial), isNested: true)
      await QuizQuestion(plan, in: world).conduct()
    default: break
    }
  }

  private func hold(_ hold: QuizAct.Hold, on record: QuizRecord) async {
    switch hold {
    case .none: break
    case .yields(let count): for _ in 0..<count { await Task.yield() }
    case .resumed:
      await withCheckedContinuation { continuation in Task.detached { continuation.resume() } }
    case .hop: await world.quiz.landing.touch()
    case .relay:
      note(record, "until the last one is asked")
      await relay.pass()
    case .untilReturn:
      note(record, "until the call returns")
      await end.pass()
    case .untilCancelled:
      note(record, "until it is cancelled")
      cancelCaller()
      await cancellation(of: record)
    case .spin:
      // Out of the caller's place, where nothing cancels it. A yield may come back there.
      await withTaskExecutorPreference(Quiz.otherPool) {}
      spin(record)
    }
  }

  private func note(_ record: QuizRecord, _ reason: String) {
    log.withLock { $0.stages[record.serial] = .hanging(reason) }
  }

  private func cancelCaller() {
    if plan.mode == .cancelled { world.quiz.canceller.cancel(self, after: 0) }
  }

  private func spin(_ record: QuizRecord) {
    note(record, "spins until it is cancelled")
    cancelCaller()
    while !Task.isCancelled, !log.withLock({ $0.isOver }) { Threads.pause() }
  }

  /// Waits until the current task is cancelled.
  private func cancellation(of record: QuizRecord) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = log.withLock { log in
          if log.isOver || Task.isCancelled { return true }
          log.hanging[record.serial] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      log.withLock { $0.hanging.removeValue(forKey: record.serial) }?.resume()
    }
  }

  /// Lets all go that hang, once it is known that they do.
  func release() {
    relay.open()
    end.open()
    let hanging = log.withLock { log in
      defer { log.hanging = [:] }
      log.isOver = true
      return log.hanging
    }
    for continuation in hanging.values { continuation.resume() }
  }
}
