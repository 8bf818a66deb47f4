extension Model {
  // MARK: When a handler begins

  /// Checks on whose behalf a handler runs, by the calls' numbers that the callers' task-locals hold.
  ///
  /// - Parameters:
  ///   - number: the call.
  ///   - caller: what is not named to the hub.
  ///   - named: what is.
  mutating func checkContext(of number: Int, caller: Int, named: Int) {
    if isPosting { violate(7, "a handler of #\(number) runs before the posting is over") }
    if named != number { violate(15, "a handler of #\(number) runs on behalf of #\(named)") }
    let expected = calls[number]?.isQuestion ?? false ? number : 0
    if caller != expected {
      violate(15, "a handler of #\(number) finds #\(caller) in what was not to be carried")
    }
  }

  /// Whether a handler may run where it does.
  func mayRun(_ number: Int, in index: Int, onLane isOnLane: Bool) -> Bool {
    let episode = episodes[index]
    if episode.options.isOnLane == isOnLane { return true }
    // What was called before the change may still run where it was to run then.
    return episode.movedAt.map { (calls[number]?.began ?? 0) < $0 } ?? false
  }

  /// Checks that the cancellation handler of a call with a deadline does not hold up who cancels the caller.
  mutating func checkCancellation(of number: Int) {
    if isCancelling, calls[number]?.ticks != nil {
      violate(
        10, "a cancellation handler of #\(number) runs in the place of who cancels the caller")
    }
  }

  // MARK: When a call returns

  /// Checks a call that comes back.
  mutating func check(_ number: Int, _ outcome: Outcome, at time: Int) {
    guard let call = calls[number] else { return }
    switch (call.operation, outcome) {
    case (.vote, .failed):
      if call.decision != .failed { violate(11, "#\(number) failed, and no handler did first") }
    case (.vote, .verdict(let verdict)):
      checkVerdict(verdict, of: call, number, isLate: false, absenceDenies: true)
    case (.voteWithin(let ticks, let absenceDenies), .verdict(let verdict)):
      let isLate = time >= call.beganAt + ticks
      checkVerdict(verdict, of: call, number, isLate: isLate, absenceDenies: absenceDenies)
    case (.collect(let ticks), .replies(let players, let count)):
      checkReplies(players, count, of: call, number)
      if ticks.map({ time < call.beganAt + $0 }) ?? true { checkCompleteness(of: call, number) }
    case (.askInTurn, .failed):
      if call.decision != .failed { violate(11, "#\(number) failed, and no handler did first") }
    case (.askInTurn, .answer(let player)):
      if call.decision != player.map(Decision.answered) {
        violate(9, "#\(number) came back with an answer that is not the first")
      }
      if player == nil { checkCompleteness(of: call, number) }
    case (.pass, .failed):
      if call.decision != .failed { violate(11, "#\(number) failed, and no handler did first") }
    case (.pass, .value(nil)):
      if call.decision != .denied { violate(9, "#\(number) was stopped by nobody") }
    case (.pass, .value(let value?)):
      if call.decision != nil { violate(9, "#\(number) passed though it was stopped") }
      if value != call.asked.count { violate(5, "#\(number) came back with \(value)") }
      checkCompleteness(of: call, number)
    case (.notifyAndWait, .told(let addressed, let handled, let failed, let missed)):
      checkOutcome(addressed, handled, failed, missed, of: call, number)
      guard let task = call.task, !cancelledTasks.contains(task),
        let awaited = certainlyAwaited(by: call, number)
      else { return }
      // One that has ended while its handler hangs does not hold posters of later ones.
      for episode in episodes
      where episode.options.limit == nil && episode.hasPending(awaited)
        && (awaited == number || episode.isOpen)
      {
        violate(
          14, "#\(number) returned before subscriber \(episode.player) had handled #\(awaited)")
      }
    case (.postAndWait, _):
      guard let task = call.task, !cancelledTasks.contains(task) else { return }
      for line in lines where line.limit == nil && line.hasPending(number) {
        violate(14, "#\(number) returned before the line of #\(line.call) had handled it")
      }
    case (.next(let ticks), .event(nil)):
      let isLate = ticks.map { time >= call.beganAt + $0 } ?? false
      let isCancelled = call.task.map(cancelledTasks.contains) ?? false
      if !isLate, !isCancelled, lines.contains(where: { $0.call == number && $0.isOpen }) {
        violate(10, "#\(number) came back with nothing before its deadline")
      }
    case (.drain(let ticks), .rest(let isAtRest)):
      checkRest(
        isAtRest, of: call, number, isLate: ticks.map { time >= call.beganAt + $0 } ?? false)
    case (.cancelAndWait, _):
      guard let target = call.target else { return }
      if runningHandlers(of: target) > excusedHandlers(by: call, number, of: target) {
        violate(2, "#\(number) returned while subscriber \(episodes[target].player)'s handler runs")
      }
    default: break
    }
  }

  /// Checks what became of a notification, as its poster is told.
  private mutating func checkOutcome(
    _ addressed: Int, _ handled: Int, _ failed: Int, _ missed: Int, of call: Call, _ number: Int
  ) {
    let hasDead = episodes.contains { $0.isDead }
    if hasDead ? addressed < call.addressed : addressed != call.addressed {
      violate(16, "#\(number) was addressed to \(call.addressed), and tells of \(addressed)")
    }
    if handled > call.handled || failed > call.failed || handled + failed + missed > addressed {
      violate(16, "#\(number) tells of \(handled) handled, \(failed) failed, \(missed) missed")
    }
    guard let task = call.task, !cancelledTasks.contains(task), call.awaited == number else {
      return
    }
    if handled != call.handled || failed != call.failed || handled + failed + missed != addressed {
      violate(16, "#\(number) is over with \(handled) handled, \(failed) failed, \(missed) missed")
    }
  }

  /// The notification that a call waits for; `nil` if one that nobody has found dead may have counted as there.
  private func certainlyAwaited(by call: Call, _ number: Int) -> Int? {
    let hasDead = episodes.contains { $0.isDead }
    return hasDead && call.awaited != number ? nil : call.awaited
  }

  /// Whether whoever has a place, or had it before, handles a notification.
  private func isHandling(at place: Int) -> Bool {
    episodes.contains { $0.place == place && $0.running != nil }
  }

  private func runningHandlers(of index: Int) -> Int {
    episodes[index].asked + (episodes[index].running == nil ? 0 : 1)
  }

  /// How many handlers of a subscription need not have returned when a wait for them does, at most.
  private func excusedHandlers(by call: Call, _ number: Int, of target: Int) -> Int {
    if call.task != nil { return 0 }
    // Handlers that wait for each other excuse each other.
    guard let leaver = call.leftBy, waitsOfHandlers == 1 else { return .max }
    return leaver == target && !isOutside(number) ? 1 : 0
  }

  private mutating func checkVerdict(
    _ verdict: Bool, of call: Call, _ number: Int, isLate: Bool, absenceDenies: Bool
  ) {
    if verdict {
      if call.decision != nil, !isLate { violate(9, "#\(number) passed though it was denied") }
      if absenceDenies || !isLate { checkCompleteness(of: call, number, isLate: isLate) }
    } else if call.decision != .denied, !(isLate && absenceDenies) {
      violate(9, "#\(number) was denied by nobody")
    }
  }

  /// All who have been there from before a question to its end have answered it.
  private mutating func checkCompleteness(of call: Call, _ number: Int, isLate: Bool = false) {
    if call.handlers > (isLate ? endedOnes(of: call) : 0) {
      violate(8, "#\(number) returned before all had answered")
    }
    if let missing = firstUnasked(in: call) {
      violate(1, "#\(number) returned and had not asked subscriber \(episodes[missing].player)")
    }
  }

  /// How many of those that were asked are not there any more: at a deadline they are not late.
  private func endedOnes(of call: Call) -> Int { call.asked.count { !episodes[$0].isOpen } }

  /// One whose place has been there since before the call, and was left out.
  private func firstUnasked(in call: Call) -> Int? {
    let asked = Set(call.asked.map { episodes[$0].place })
    return episodes.indices.first {
      episodes[$0].isOpen && episodes[$0].place < call.began && !asked.contains(episodes[$0].place)
    }
  }

  private mutating func checkReplies(
    _ players: [Int], _ count: Int, of call: Call, _ number: Int
  ) {
    if count < call.asked.count - (call.ticks == nil ? 0 : endedOnes(of: call)) {
      violate(11, "#\(number) came back with \(count) replies of \(call.asked.count)")
    }
    guard lastReordering < call.began else { return }
    let places = players.compactMap { player in
      call.asked.first { episodes[$0].player == player }
    }
    for (one, other) in zip(places, places.dropFirst()) where !precedes(one, other) {
      violate(8, "#\(number) came back with replies out of order")
    }
  }

  private mutating func checkRest(_ isAtRest: Bool, of call: Call, _ number: Int, isLate: Bool) {
    guard let task = call.task, !cancelledTasks.contains(task) else { return }
    if isAtRest {
      tick()
      if lastRest < call.began { violate(14, "#\(number) returned, and there was no rest") }
    } else if !isLate {
      violate(14, "#\(number) gave up before its deadline")
    }
  }

  // MARK: When nothing is left to run

  /// Checks that whatever has not come to its end waits for a handler that hangs.
  ///
  /// - Parameters:
  ///   - hanging: the calls of the handlers that hang until they are cancelled.
  ///   - time: what the clock shows.
  ///   - heldTasks: the tasks whose executor is held up.
  mutating func checkQuiescence(hanging: [Int], at time: Int, heldTasks: Set<Int> = []) {
    tick()
    for episode in episodes where episode.pending > 0 && !isHandling(at: episode.place) {
      violate(6, "what waits for subscriber \(episode.player) is left lying")
    }
    for line in lines where line.isAsking && line.pending > 0 && !heldTasks.contains(line.task) {
      violate(6, "what waits for the line of #\(line.call) is left lying")
    }
    for (number, call) in calls where !call.isOver {
      if let task = call.task, heldTasks.contains(task) { continue }
      checkProgress(of: call, number, at: time, heldTasks)
    }
    for number in hanging {
      guard let call = calls[number], call.isQuestion else { continue }
      if call.decision != nil { violate(9, "a handler of #\(number), decided, is not cancelled") }
      if call.isOver { violate(9, "a handler of #\(number), which is over, is not cancelled") }
      if let task = call.task, cancelledTasks.contains(task) {
        violate(12, "a handler of #\(number), whose caller is cancelled, is not")
      }
    }
  }

  private mutating func checkProgress(
    of call: Call, _ number: Int, at time: Int, _ heldTasks: Set<Int>
  ) {
    switch call.operation {
    case .vote, .voteWithin, .collect, .askInTurn, .pass:
      if call.decision != nil { violate(9, "#\(number) is decided and does not return") }
      if call.handlers == 0 { violate(8, "#\(number) waits for nobody") }
      if !call.isInTurn, let missing = firstUnasked(in: call) {
        violate(8, "#\(number) does not ask subscriber \(episodes[missing].player)")
      }
      if call.isDue(at: time) { violate(10, "#\(number) is past its deadline") }
    case .notifyAndWait:
      guard let awaited = certainlyAwaited(by: call, number) else { return }
      if !episodes.contains(where: { $0.hasPending(awaited) && isHandling(at: $0.place) }) {
        violate(14, "#\(number) waits for nobody")
      }
    case .postAndWait:
      if !lines.contains(where: { $0.hasPending(number) && heldTasks.contains($0.task) }) {
        violate(14, "#\(number) waits for nobody")
      }
    case .next: if call.isDue(at: time) { violate(10, "#\(number) is past its deadline") }
    case .drain:
      let running =
        episodes.indices.reduce(0) { $0 + runningHandlers(of: $1) } + lines.count { $0.pending > 0 }
      // A question is under way until its caller goes on.
      let isAsking = calls.values.contains {
        $0.isQuestion && !$0.isOver && $0.task.map(heldTasks.contains) ?? false
      }
      if isAsking { break }
      if running == 0 || running == 1 && call.task == nil && !isOutside(number) {
        violate(14, "#\(number) waits for nobody")
      }
      if call.isDue(at: time) { violate(14, "#\(number) is past its deadline") }
    case .cancelAndWait:
      guard let episode = call.target.map({ episodes[$0] }) else { return }
      // It waits for former subscriptions of the same object as well.
      let others = episodes.filter { $0.player == episode.player }
      if others.allSatisfy({ $0.running == nil && $0.asked == 0 }) {
        violate(2, "#\(number) waits for nobody")
      }
    default: break
    }
  }

  // MARK: At the end

  /// Checks the account when all has come to rest.
  mutating func checkAccount(
    handled: Int, failed: Int, cancelled: Int, expired: Int, dropped: Int, waiting: Int
  ) {
    if waiting != 0 { violate(16, "\(waiting) wait when all is over") }
    if handled != self.handled { violate(16, "handled is \(handled), not \(self.handled)") }
    if failed != self.failed { violate(16, "failed is \(failed), not \(self.failed)") }
    let hasLimits = episodes.contains { $0.options.limit != nil }
    let hasDead = episodes.contains { $0.isDead }
    let hasEnded = episodes.contains { $0.isEnding }
    if dropped != 0, !hasLimits { violate(16, "dropped is \(dropped) without a limit") }
    if expired != 0, !hasDead { violate(16, "expired is \(expired), and nobody died") }
    if cancelled != 0, !hasEnded, !hasDead {
      violate(16, "cancelled is \(cancelled), and nothing was")
    }
    let lost = episodes.reduce(0) { $0 + $1.addressed.count } - self.handled - self.failed
    // To one that is dead, more is addressed until it is found out.
    if hasDead ? cancelled + expired + dropped < lost : cancelled + expired + dropped != lost {
      violate(
        16, "\(lost) were not handled; \(cancelled), \(expired), \(dropped) are accounted for")
    }
    for episode in episodes where episode.isOpen {
      if episode.pending > 0 { violate(16, "subscriber \(episode.player) has not got all") }
    }
  }
}

extension Model {
  /// Names a call.
  func describe(_ number: Int) -> String {
    "#\(number) \(calls[number].map { "\($0.operation)" } ?? "")"
  }

  /// The calls that have not returned.
  var unfinished: String {
    calls.filter { !$0.value.isOver }.keys.sorted().map(describe).joined(separator: ", ")
  }
}

extension Model.Call {
  /// Whether its deadline has come.
  func isDue(at time: Int) -> Bool { ticks.map { time >= beganAt + $0 } ?? false }

  /// The deadline, from the call.
  var ticks: Int? {
    switch operation {
    case .voteWithin(let ticks, _): ticks
    case .collect(let ticks), .drain(let ticks), .next(let ticks): ticks
    default: nil
    }
  }

  var isQuestion: Bool {
    switch operation {
    case .vote, .voteWithin, .collect, .askInTurn, .pass: true
    default: false
    }
  }

  /// Whether subscribers are asked one after another.
  var isInTurn: Bool {
    switch operation {
    case .askInTurn, .pass: true
    default: false
    }
  }
}
