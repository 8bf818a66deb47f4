import Delegation

extension Scenario {
  /// Makes a call that a task or a handler has to make.
  ///
  /// - Parameters:
  ///   - step: the call.
  ///   - task: the task; `nil` for a handler.
  func perform(_ step: Script.Step, in task: Int?) async {
    if step.yields { await Task.yield() }
    guard begin(step, in: task) else { return }
    await Self.$caller.withValue(step.number) {
      await Self.$named.withValue(step.number) {
        guard !act(step) else { return }
        let outcome = await wait(for: step)
        model.check(step.number, outcome, at: time)
      }
    }
    finish(step)
  }

  /// Makes a call if it is one that need not be awaited.
  func performSynchronously(_ step: Script.Step) {
    guard step.operation.isSynchronous, begin(step, in: nil) else { return }
    Self.$caller.withValue(step.number) {
      _ = Self.$named.withValue(step.number) { act(step) }
    }
    finish(step)
  }

  private func begin(_ step: Script.Step, in task: Int?) -> Bool {
    // A handler that is called for the second time does not call again.
    guard model.calls[step.number] == nil else { return false }
    model.begin(step, in: task, at: time)
    history.note(.begins, step.number)
    return true
  }

  private func finish(_ step: Script.Step) {
    model.finish(step.number)
    history.note(.returns, step.number)
  }

  // MARK: Calls that return at once

  /// - Returns: whether the call is one of those.
  private func act(_ step: Script.Step) -> Bool {
    let number = step.number
    switch step.operation {
    case .subscribe(let slot, let options): subscribe(slot, options)
    case .succeed(let slot): succeed(slot)
    case .end(let slot, let ending): end(slot, ending)
    case .unsubscribeAll: unsubscribeAll()
    case .kill(let slot): kill(slot)
    case .notify(let isAsynchronous):
      model.isPosting = true
      if isAsynchronous {
        hub[(any Subject).self].notify { try await $0.handle(number, in: $0.begin(number)) }
      } else {
        hub[(any Subject).self].notify { try $0.handle(number, in: $0.begin(number)) }
      }
      model.isPosting = false
    case .advance(let ticks): clock.advance(by: .seconds(ticks))
    case .cancelTask(let index): cancelTask(index)
    case .post: events.post(number)
    case .once: once(number)
    case .finish: _ = finishLines()
    default: return false
    }
    return true
  }

  func subscribe(_ slot: Int, _ options: Script.Options) {
    let player = players[slot] ?? makePlayer(in: slot)
    var options = options
    let former = model.openEpisode(of: player.number)
    if let index = former {
      // Of one that is subscribed, only the priority and the executor change.
      let (priority, isOnLane) = (options.priority, options.isOnLane)
      options = model.episodes[index].options
      options.priority = priority
      options.isOnLane = options.isOnLane || isOnLane
    } else {
      ids[player.number] = options.hasID ? player.number : nil
    }
    subscriptions[slot] = (subscribe(player, options), player.number)
    if let former {
      model.succeed(former, by: player.number, with: options)
    } else {
      model.open(player.number, options)
    }
  }

  /// What waits is handed over, which is exact if the present one is open and has no limit.
  private func succeed(_ slot: Int) {
    guard let former = players[slot], let index = model.openEpisode(of: former.number),
      let id = ids[former.number], model.episodes[index].options.limit == nil
    else { return }
    let player = makePlayer(in: slot)
    ids[player.number] = id
    isKept[former.number] = false
    subscriptions[slot] = (subscribe(player, model.episodes[index].options), player.number)
    model.succeed(index, by: player.number)
  }

  private func subscribe(_ player: Player, _ options: Script.Options) -> DelegateHub.Subscription {
    let policy: DelegateHub.MailboxPolicy =
      switch options.limit {
      case nil: .unbounded
      case 1: .latest
      case let limit?: .dropOldest(limit: limit)
      }
    return hub.subscribe(
      player, to: (any Subject).self, priority: options.priority, id: ids[player.number],
      hold: options.isStrong ? .strongly : .weakly, mailbox: policy,
      on: options.isOnLane ? lane : nil)
  }

  private func end(_ slot: Int, _ ending: Script.Ending) {
    guard let (subscription, owner) = subscriptions[slot] else { return }
    let episode = model.openEpisode(of: owner)
    if let episode { model.startEnding(episode) }
    switch (ending, players[slot]) {
    case (.unsubscribe, let player?) where player.number == owner:
      hub[(any Subject).self].registry.unsubscribe(player)
    case (.unsubscribeFromEverything, let player?) where player.number == owner:
      hub.unsubscribe(player)
    case (.unsubscribeByID, _):
      if let id = ids[owner] { hub.unsubscribe(id: id) } else { subscription.cancel() }
    default: subscription.cancel()
    }
    if let episode { model.episodes[episode].isEnded = true }
    if subscription.isActive { model.violate(2, "an ended subscription is active") }
  }

  private func unsubscribeAll() {
    let open = model.episodes.indices.filter { model.episodes[$0].isOpen }
    for episode in open { model.startEnding(episode) }
    hub[(any Subject).self].registry.unsubscribeAll()
    for episode in open { model.episodes[episode].isEnded = true }
  }

  private func kill(_ slot: Int) {
    guard let number = players[slot]?.number else { return }
    isKept[number] = false
    drop(slot)
    checkDeath(of: number)
  }

  private func drop(_ slot: Int) {
    // Let go of when `players` is no longer being changed.
    let former = players[slot].take()
    withExtendedLifetime(former) {}
  }

  // MARK: Calls to wait for

  private func wait(for step: Script.Step) async -> Model.Outcome {
    let number = step.number
    switch step.operation {
    case .notifyAndWait(let window):
      let told = await hub[(any Subject).self].notifyAndWait(leaving: window) {
        try await $0.handle(number, in: $0.begin(number))
      }
      return .told(
        addressed: told.addressed, handled: told.handled, failed: told.failed, missed: told.missed)
    case .postAndWait: await events.notifyAndWait { try await $0.receive(number) }
    case .listen(let count, let limit): await listen(to: count, limit, number)
    case .next(let ticks): return await .event(next(within: ticks, number))
    case .cancelAndWait(let slot):
      await cancelAndWait(slot, number)
    case .drain(let ticks):
      return await .rest(hub.drain(within: ticks.map { .seconds($0) }).isEmpty)
    case .statistics: checkStatistics(number)
    default:
      return await ask(step)
    }
    return .nothing
  }

  private func ask(_ step: Script.Step) async -> Model.Outcome {
    let number = step.number
    switch step.operation {
    case .vote:
      do {
        return .verdict(
          try await hub[(any Subject).self].vote {
            try await $0.answer(number, in: $0.begin(number))
          })
      } catch {
        return .failed
      }
    case .voteWithin(let ticks, let absenceDenies):
      return await .verdict(
        hub[(any Subject).self].vote(
          within: .seconds(ticks),
          absent: absenceDenies ? .counts(as: false) : .abstains
        ) { try await $0.answer(number, in: $0.begin(number)) })
    case .collect(let ticks):
      let replies = await hub[(any Subject).self].collect(within: ticks.map { .seconds($0) }) {
        _ = try await $0.answer(number, in: $0.begin(number))
        return $0.number
      }
      return .replies(replies.compactMap { try? $0.result.get() }, count: replies.count)
    case .pass:
      do {
        return try await .value(
          hub[(any Subject).self].pass(0) {
            try await $0.answer(number, in: $0.begin(number)) ? $1 + 1 : nil
          })
      } catch {
        return .failed
      }
    default:
      do {
        return try await .answer(
          hub[(any Subject).self].askInTurn {
            try await $0.answer(number, in: $0.begin(number)) ? nil : $0.number
          })
      } catch {
        return .failed
      }
    }
  }

  private func cancelAndWait(_ slot: Int, _ number: Int) async {
    guard let (subscription, owner) = subscriptions[slot] else { return }
    let episode = model.openEpisode(of: owner)
    if let episode { model.startEnding(episode) }
    let target = episode ?? model.episodes.lastIndex { $0.player == owner }
    model.calls[number]?.target = target
    await subscription.cancelAndWait()
    if let episode { model.episodes[episode].isEnded = true }
  }

  private func checkStatistics(_ number: Int) {
    let (handled, failed) = (model.handled, model.failed)
    guard let counts = hub[(any Subject).self].statistics?.counts else { return }
    if !(handled...model.handled ~= counts.handled && failed...model.failed ~= counts.failed) {
      model.violate(16, "#\(number) tells of \(counts.handled) handled, \(counts.failed) failed")
    }
    if counts.handling < 0 { model.violate(16, "#\(number) tells of \(counts.handling) handled") }
    if counts.waiting < 0 { model.violate(16, "#\(number) tells of \(counts.waiting) waiting") }
    guard number == Self.closing + 1 else { return }
    model.checkAccount(
      handled: counts.handled, failed: counts.failed, cancelled: counts.cancelled,
      expired: counts.expired, dropped: counts.dropped,
      waiting: counts.waiting + counts.handling)
    if let events = events.statistics?.counts {
      model.checkLines(events.handled, events.waiting + events.handling)
    }
  }
}

extension Model {
  /// What a call came back with.
  enum Outcome {
    case nothing
    case verdict(Bool)
    case failed
    case answer(Int?)
    /// What a value has become that was passed through all, or `nil` if somebody stopped it.
    case value(Int?)
    /// Who answered, in order, and how many replies there were.
    case replies([Int], count: Int)
    case rest(Bool)
    /// What has become of a notification.
    case told(addressed: Int, handled: Int, failed: Int, missed: Int)
    case event(Int?)
  }
}

extension Script.Operation {
  /// Whether it returns at once.
  var isSynchronous: Bool {
    switch self {
    case .subscribe, .succeed, .end, .unsubscribeAll, .kill, .notify, .advance, .cancelTask, .post,
      .once,
      .finish:
      true
    default: false
    }
  }

  /// Whether it waits for handlers.
  var isWait: Bool {
    switch self {
    case .notifyAndWait, .cancelAndWait, .drain, .postAndWait: true
    default: false
    }
  }
}
