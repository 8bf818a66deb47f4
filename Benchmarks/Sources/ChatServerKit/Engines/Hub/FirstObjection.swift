import Delegation

/// Agrees if nobody objects; otherwise says whatever objection comes first.
struct FirstObjection: Combiner {
  mutating func receive(_ verdict: Verdict, from position: Int) -> Verdict? {
    verdict == .agrees ? nil : verdict
  }

  mutating func finish() -> Verdict { .agrees }
}
