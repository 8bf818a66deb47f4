extension Scenario {
  /// A handler of a subscriber begins.
  ///
  /// - Returns: the episode, if it may.
  func begin(_ call: Int, by player: Player) -> Int? {
    if !explorer.isCurrent { fatalError("a handler runs on a thread that is not the explorer's") }
    history.note(.starts, call, player.number)
    model.checkContext(of: call, caller: Self.caller, named: Self.named)
    let episode =
      model.calls[call]?.isQuestion ?? false
      ? model.startAnswering(call, by: player.number)
      : model.startHandling(call, by: player.number)
    if explorer.isOnCallersLane {
      model.violate(6, "#\(call) calls subscriber \(player.number) on its caller's executor")
    }
    if let episode, !model.mayRun(call, in: episode, onLane: explorer.isOnLane) {
      model.violate(0, "#\(call) calls subscriber \(player.number) on the wrong executor")
    }
    return episode
  }

  /// What a subscriber does when it is told something and cannot wait.
  func handle(_ call: Int, in episode: Int?, by player: Player) throws {
    guard let episode else { return }
    let behaviour = script.behaviour(of: player.slot, in: call)
    if let step = behaviour.step { performSynchronously(step) }
    try end(call, episode, behaviour)
  }

  /// What a subscriber does when it is told something.
  func handleAsynchronously(_ call: Int, in episode: Int?, by player: Player) async throws {
    guard let episode else { return }
    let behaviour = script.behaviour(of: player.slot, in: call)
    await act(behaviour, call, episode)
    try end(call, episode, behaviour)
  }

  /// What a subscriber does when it is asked.
  func answer(_ call: Int, in episode: Int?, by player: Player) async throws -> Bool {
    guard let episode else { return true }
    let behaviour = script.behaviour(of: player.slot, in: call)
    await act(behaviour, call, episode)
    model.endAnswering(
      call, in: episode, answer: behaviour.answer, throwing: behaviour.isThrowing)
    if let step = behaviour.step { model.handlerReturned(afterLeaving: step.number, in: episode) }
    history.note(behaviour.isThrowing ? .throwsError : .ends, call, player.number)
    if behaviour.isThrowing { throw Failure() }
    return behaviour.answer
  }

  private func act(_ behaviour: Script.Behaviour, _ call: Int, _ episode: Int) async {
    for _ in 0..<behaviour.yields { await Task.yield() }
    if behaviour.hang != .not {
      await hang(call, episode, isCancellable: behaviour.hang == .untilReleasedOrCancelled)
    }
    guard let step = behaviour.step else { return }
    guard behaviour.isLeftBehind else { return await perform(step, in: nil) }
    if model.leave(step.number, in: episode) { leaveBehind(step) }
    // So that the task may begin before this handler returns.
    for _ in 0..<1 + behaviour.yields { await Task.yield() }
  }

  private func end(_ call: Int, _ episode: Int, _ behaviour: Script.Behaviour) throws {
    model.endHandling(call, in: episode, throwing: behaviour.isThrowing)
    if let step = behaviour.step { model.handlerReturned(afterLeaving: step.number, in: episode) }
    history.note(
      behaviour.isThrowing ? .throwsError : .ends, call, model.episodes[episode].player)
    if behaviour.isThrowing { throw Failure() }
  }
}
