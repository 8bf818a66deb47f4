import Delegation

/// Agrees if nobody objects and enough have answered; otherwise says whatever objection comes first.
struct FirstObjection: Combiner {
  /// How many have to answer that nothing is let through because one is missing.
  private let quorum: Int
  private var answers = 0

  init(ofAtLeast quorum: Int = 0) {
    self.quorum = quorum
  }

  mutating func receive(_ verdict: Verdict, from position: Int) -> Verdict? {
    answers += 1
    return verdict == .agrees ? nil : verdict
  }

  mutating func finish() -> Verdict {
    answers >= quorum ? .agrees : .objects(because: "somebody who has to agree is missing")
  }
}
