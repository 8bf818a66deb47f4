import Delegation

/// A rule's verdict, with its name.
struct Vote: Sendable {
  let rule: String
  let verdict: Verdict
}

/// What the votes came to: the veto that counts, or none.
struct Decision: Sendable, Equatable {
  let veto: Veto?
}

/// Delivers if nobody objects; otherwise names the first rule, in the order of the rules, that does.
///
/// Rules answer in any order. A veto decides as soon as all rules before have agreed, so the same rule is named
/// whichever is quicker, and the rules after it need not be waited for.
struct FirstVeto: Combiner {
  private enum Answer {
    case awaited
    case agreed
    case vetoed(Veto)
  }

  private var answers: [Answer] = []
  /// The first position whose answer could still be a veto.
  private var next = 0

  mutating func begin(asking count: Int) -> Decision? {
    answers = Array(repeating: .awaited, count: count)
    return nil
  }

  mutating func receive(_ vote: Vote, from position: Int) -> Decision? {
    switch vote.verdict {
    case .agree: answers[position] = .agreed
    case .veto(let reason): answers[position] = .vetoed(Veto(rule: vote.rule, reason: reason))
    }
    return decide()
  }

  /// A rule that has gone neither blocks the decision, nor hides a later rule's veto.
  mutating func receiveNothing(from position: Int) -> Decision? {
    answers[position] = .agreed
    return decide()
  }

  mutating func finish() -> Decision {
    Decision(veto: nil)
  }

  private mutating func decide() -> Decision? {
    while next < answers.count {
      switch answers[next] {
      case .awaited: return nil
      case .agreed: next += 1
      case .vetoed(let veto): return Decision(veto: veto)
      }
    }
    return nil
  }
}
