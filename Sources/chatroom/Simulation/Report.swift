/// What came of a simulation, and whether all who counted came to the same.
struct Report: Sendable {
  /// How many messages there should have been.
  let asked: Int
  /// What those who posted counted.
  let tally: Tally
  /// What an observer counted.
  let figures: StatisticsKeeper.Figures
  let toldHistory: Int
  let toldWitness: Int
  let outOfOrder: Int
  let rulesAtStart: Int
  let rulesAtEnd: Int
  let cameToRest: Bool
  let duration: Duration

  private let observers = 3

  private var handled: Int { figures.messages + toldHistory + toldWitness }

  /// What does not add up, if anything.
  var problems: [String] {
    var problems: [String] = []
    func check(_ isTrue: Bool, _ problem: String) {
      if !isTrue { problems.append(problem) }
    }
    check(tally.posted == asked, "\(asked.grouped) messages wanted, \(tally.posted.grouped) posted")
    check(
      tally.votes >= tally.delivered * rulesAtStart + tally.vetoed,
      "\(tally.votes.grouped) votes are too few")
    check(
      handled == tally.posted * observers,
      "\(tally.posted.grouped) messages posted; the statistics were told of "
        + "\(figures.messages.grouped), the history of \(toldHistory.grouped), "
        + "the witness of \(toldWitness.grouped)")
    check(
      figures.delivered == tally.delivered && figures.vetoedByRule == tally.vetoedByRule,
      "posters and statistics do not agree on what was vetoed by whom")
    check(outOfOrder == 0, "\(outOfOrder.of("message")) told out of order")
    check(cameToRest, "drain came back with somebody left")
    check(rulesAtEnd == rulesAtStart, "\(rulesAtEnd) rules at the end, not \(rulesAtStart)")
    return problems
  }

  var text: String {
    let rate = Int(Double(asked) / (duration / .seconds(1)))
    let votesEach = Double(Int(100 * Double(tally.votes) / Double(asked))) / 100
    let vetoes = tally.vetoed == 0 ? "" : ": \(tally.vetoedByRule.ranked())"
    let product = "\(tally.posted.grouped) posted x \(observers) observers"
    let left = cameToRest ? "none left" : "some left"
    let sum = problems.isEmpty ? "ok" : "WRONG: " + problems.joined(separator: "; ")
    return """
      messages    \(asked.grouped) in \(duration.inSeconds): \(rate.grouped) a second
      votes       \(tally.votes.grouped), \(votesEach) a message
      delivered   \(tally.delivered.grouped)
      vetoed      \(tally.vetoed.grouped)\(vetoes)
      rules       \(tally.mutings.of("muting rule")) came and went
      deliveries  \(handled.grouped) to observers, \(outOfOrder.grouped) out of order
      accounts:   \(product) = \(handled.grouped) handled, \(left): \(sum)

      """
  }
}
