/// Counts what was delivered and what was not.
actor StatisticsKeeper: RoomObserver {
  struct Figures: Sendable, Equatable {
    var deliveredBySender: [String: Int] = [:]
    var vetoedByRule: [String: Int] = [:]
    var delivered = 0
    var vetoed = 0

    var messages: Int { delivered + vetoed }

    /// The figures in words, a line each.
    var lines: [String] {
      var lines = [
        "\(messages.of("message")): \(delivered.grouped) delivered, \(vetoed.grouped) vetoed"
      ]
      if delivered > 0 {
        lines.append("delivered by sender: \(deliveredBySender.ranked(first: 5))")
      }
      if vetoed > 0 { lines.append("vetoed by rule: \(vetoedByRule.ranked())") }
      return lines
    }
  }

  private(set) var figures = Figures()

  func room(_ room: Room, didDeliver message: Message) {
    figures.delivered += 1
    figures.deliveredBySender[message.sender, default: 0] += 1
  }

  func room(_ room: Room, didVeto message: Message, for veto: Veto) {
    figures.vetoed += 1
    figures.vetoedByRule[veto.rule, default: 0] += 1
  }
}
