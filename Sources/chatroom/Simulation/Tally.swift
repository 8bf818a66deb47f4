/// What became of messages, counted by those who posted them.
struct Tally: Sendable {
  private(set) var delivered = 0
  private(set) var vetoedByRule: [String: Int] = [:]
  private(set) var votes = 0
  /// How many muting rules came and went.
  var mutings = 0

  var vetoed: Int { vetoedByRule.values.reduce(0, +) }
  var posted: Int { delivered + vetoed }

  mutating func count(_ decision: Decision) {
    votes += decision.votes
    if let veto = decision.veto {
      vetoedByRule[veto.rule, default: 0] += 1
    } else {
      delivered += 1
    }
  }

  mutating func add(_ other: Tally) {
    delivered += other.delivered
    vetoedByRule.merge(other.vetoedByRule, uniquingKeysWith: +)
    votes += other.votes
    mutings += other.mutings
  }
}
