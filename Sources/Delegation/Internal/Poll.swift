/// Carries one ballot from many workers to one caller.
///
/// The combiner is the user's code, so it never runs under the lock: whoever brings an event takes the
/// ballot out, counts outside, and puts it back; events that come meanwhile queue up and are counted by
/// the one who has the ballot.
final class Poll<C: Combiner, Failure: Error>: Sendable {
  typealias Count = Ballot<C, Failure>

  private struct State: Sendable {
    /// `nil` while somebody counts, and after the decision.
    var ballot: Count?
    var queue: [(event: Count.Event, position: Int)] = []
    var decision: Count.Decision?
    var caller: CheckedContinuation<Count.Decision, Never>?
  }

  private let state: Lock<State>

  init(_ ballot: Count) {
    state = Lock(State(ballot: ballot))
  }

  /// The decision, if there is one.
  var decision: Count.Decision? { state.withLock { $0.decision } }

  /// Waits for the decision. For one caller.
  func waitForDecision() async -> Count.Decision {
    await withCheckedContinuation { continuation in
      let decision = state.withLock { state in
        if state.decision == nil { state.caller = continuation }
        return state.decision
      }
      if let decision { continuation.resume(returning: decision) }
    }
  }

  /// Counts an event; if it decides, stops the fan-out and lets the caller go on.
  func take(_ event: Count.Event, from position: Int, in fanOut: FanOut) {
    let taken = state.withLock { state -> Count? in
      guard let ballot = state.ballot else {
        if state.decision == nil { state.queue.append((event, position)) }
        return nil
      }
      state.ballot = nil
      return ballot
    }
    guard var ballot = taken else { return }
    var next: (event: Count.Event, position: Int)? = (event, position)
    while let (event, position) = next {
      if let decision = ballot.count(event, from: position) {
        fanOut.stop()
        decide(decision)
        return
      }
      next = putBack(ballot)
    }
  }

  /// Puts the ballot back, unless more has come.
  private func putBack(_ ballot: Count) -> (event: Count.Event, position: Int)? {
    state.withLock { state in
      guard state.queue.isEmpty else { return state.queue.removeFirst() }
      state.ballot = ballot
      return nil
    }
  }

  private func decide(_ decision: Count.Decision) {
    let (caller, unread) = state.withLock { state in
      state.decision = decision
      defer {
        state.caller = nil
        state.queue = []
      }
      return (state.caller, state.queue)
    }
    withExtendedLifetime(unread) {}
    caller?.resume(returning: decision)
  }
}
