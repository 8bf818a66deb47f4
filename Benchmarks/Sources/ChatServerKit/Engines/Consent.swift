import Delegation

/// What one extension says.
struct Vote: Sendable {
  let name: String
  let verdict: Verdict
}

/// Agrees if nobody objects and nobody is missing; otherwise says whatever objection comes first.
struct Consent: Combiner {
  /// Who has to agree, by name: to count the answers would let one stand for another.
  private let guards: [String]
  /// The places in `guards` of those who have; there are never as many as bits.
  private var present: UInt64 = 0

  init(of guards: [String] = []) {
    self.guards = guards
  }

  mutating func receive(_ vote: Vote, from position: Int) -> Verdict? {
    guard vote.verdict == .agrees else { return vote.verdict }
    if let place = guards.firstIndex(of: vote.name) { present |= 1 << UInt64(place) }
    return nil
  }

  mutating func finish() -> Verdict {
    let missing = guards.indices.first { present & (1 << UInt64($0)) == 0 }
    return missing.map { .misses(guards[$0]) } ?? .agrees
  }
}
