import Testing

@testable import DelegationTesting

@Suite("SleepQueue", .inTurn)
struct SleepQueueTests {
  private typealias Instant = ManualClock.Instant

  @Test("it does as a sorted array, whatever is added, removed and due", arguments: seeds(50))
  func model(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    var queue = SleepQueue<Int>()
    var model: [(deadline: Int, ticket: Int)] = []
    var now = 0
    for _ in 0..<200 {
      switch dice.roll(10) {
      case 0..<5:
        let (deadline, ticket) = (now + 1 + dice.roll(20), queue.makeTicket())
        queue.add(ticket, until: Instant(offset: .seconds(deadline)), ticket: ticket)
        model.append((deadline, ticket))
        model.sort { ($0.deadline, $0.ticket) < ($1.deadline, $1.ticket) }
      case 5..<9:
        // Mostly one that sleeps, sometimes one that does not.
        let sleeping = model.isEmpty ? 0 : model[dice.roll(model.count)].ticket
        let ticket = dice.roll(8) == 0 ? dice.roll(100) : sleeping
        let index = model.firstIndex { $0.ticket == ticket }
        #expect(queue.remove(ticket) == (index == nil ? nil : ticket))
        if let index { model.remove(at: index) }
      default:
        now += dice.roll(6)
        let due = model.filter { $0.deadline <= now }.map(\.ticket)
        #expect(queue.removeAll(until: Instant(offset: .seconds(now))) == due)
        model.removeAll { $0.deadline <= now }
      }
      #expect(queue.count == model.count)
      #expect(queue.deadlines == model.map { Instant(offset: .seconds($0.deadline)) })
      #expect(queue.nextDeadline == queue.deadlines.first)
      try #require(queue.footprint <= 2 * model.count + 8)
    }
    #expect(queue.removeAll() == model.map(\.ticket) && queue.count == 0)
    #expect(queue.nextDeadline == nil)
  }
}
