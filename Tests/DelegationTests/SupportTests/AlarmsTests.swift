import Testing

@testable import Delegation

@Suite("Alarms: what is due when, and who sleeps until then", .inTurn)
struct AlarmsTests {
  @Test("after every history of seven steps it agrees with a list, and somebody sleeps in time")
  func agreesWithList() {
    let exploration = AlarmsWorld().explore(upTo: 7)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 10_000)
  }

  @Test("what is due comes in order, however many there are", arguments: seeds(20))
  func order(seed: UInt64) {
    var dice = Dice(seed: seed)
    var alarms = Alarms()
    let done = Recorder<Int>()
    var set: [(number: Int, at: Int)] = []
    for _ in 0..<500 {
      let second = dice.roll(1_000)
      let (number, _) = alarms.add({ done.record(second) }, at: .seconds(second))
      set.append((number, second))
      if dice.roll(3) == 0 {
        let index = dice.roll(set.count)
        let (number, _) = set.remove(at: index)
        #expect(alarms.cancel(number).action != nil)
      }
    }
    #expect(alarms.pending == set.count)
    for second in stride(from: 99, through: 999, by: 100) {
      let sleeper = alarms.sleepers.last?.number ?? 0
      for action in alarms.wake(sleeper, now: .seconds(second)).due { action() }
      #expect(done.history == set.map(\.at).filter { $0 <= second }.sorted())
    }
    #expect(alarms.pending == 0)
    #expect(alarms.size == 0)
  }

  @Test("one that sleeps until a far time does so once, however many others wake before")
  func farAndNear() {
    var alarms = Alarms()
    let far = alarms.add({}, at: .seconds(3_600)).number
    for second in 1...1_000 {
      let (number, needsSleeper) = alarms.add({}, at: .seconds(second))
      #expect(needsSleeper)
      let (due, next) = alarms.wake(number, now: .seconds(second))
      #expect(due.count == 1)
      #expect(next == nil)
    }
    #expect(alarms.sleepers.map { $0.number } == [far])
  }

  @Test("those that are cancelled are forgotten when they are more than half")
  func size() {
    var alarms = Alarms()
    var most = 0
    for second in 0..<10_000 {
      let (number, _) = alarms.add({}, at: .seconds(second))
      // Every hundredth stays.
      if second % 100 != 0 { _ = alarms.cancel(number) }
      most = max(most, alarms.size)
      #expect(alarms.size <= max(65, 2 * alarms.pending + 2))
    }
    #expect(alarms.pending == 100)
    #expect(most <= 202)
  }

  @Test("an alarm is taken back once, and not after it was due")
  func cancelling() {
    var alarms = Alarms()
    let numbers = (1...2).map { alarms.add({}, at: .seconds($0)).number }
    #expect(alarms.cancel(numbers[1]).action != nil)
    #expect(alarms.cancel(numbers[1]).action == nil)
    #expect(alarms.wake(numbers[0], now: .seconds(1)).due.count == 1)
    #expect(alarms.cancel(numbers[0]).action == nil)
  }

  @Test("to take one back is not to go through all that stay")
  func cancellingAmongMany() {
    var alarms = Alarms()
    let numbers = (0..<1_000).map { alarms.add({}, at: .seconds($0)).number }
    for second in 0..<400 { _ = alarms.cancel(numbers[second]) }
    #expect(alarms.size == 1_000)
    #expect(alarms.pending == 600)
  }
}

/// Alarms, and beside them a list of what is set and of those who sleep.
private struct AlarmsWorld: SmallWorld {
  enum Step {
    /// Sets an alarm some time from now.
    case add(Int)
    /// Takes the one back that was set first, or last.
    case cancelFirst, cancelLast
    /// Time passes; those whose time has come wake, the earliest first.
    case pass
    /// It passes without anybody noticing yet.
    case passUnnoticed
  }

  private var alarms = Alarms()
  private var now = 0
  private var list: [(number: Int, at: Int)] = []
  /// Those that sleep, by their numbers.
  private var sleepers: [(number: Int, at: Int)] = []

  var steps: [Step] {
    var steps: [Step] = [.pass, .passUnnoticed]
    if list.count < 4 { steps += [.add(1), .add(2), .add(4)] }
    if !list.isEmpty { steps.append(.cancelFirst) }
    if list.count > 1 { steps.append(.cancelLast) }
    return steps
  }

  mutating func take(_ step: Step) -> String? {
    switch step {
    case .add(let delay):
      let at = now + delay
      let (number, needsSleeper) = alarms.add({}, at: .seconds(at))
      list.append((number, at))
      if needsSleeper { sleepers.append((number, at)) }
    case .cancelFirst:
      if cancel(list.removeFirst()) == nil { return "it is gone" }
    case .cancelLast:
      if cancel(list.removeLast()) == nil { return "it is gone" }
    case .pass:
      now += 1
      if let fault = wake() { return fault }
    case .passUnnoticed: now += 1
    }
    if alarms.pending != list.count { return "\(alarms.pending) set, expected \(list.count)" }
    if Set(sleepers.map(\.at)).count < sleepers.count { return "two sleep until the same time" }
    guard let earliest = list.map(\.at).min() else { return nil }
    return sleepers.contains { $0.at <= earliest } ? nil : "nobody sleeps until \(earliest)"
  }

  private mutating func cancel(_ alarm: (number: Int, at: Int)) -> (@Sendable () -> Void)? {
    alarms.cancel(alarm.number).action
  }

  /// Wakes those whose time has come.
  private mutating func wake() -> String? {
    while let sleeper = sleepers.filter({ $0.at <= now }).min(by: { $0.at < $1.at }) {
      sleepers.removeAll { $0.number == sleeper.number }
      let (due, next) = alarms.wake(sleeper.number, now: .seconds(now))
      let expected = list.count { $0.at <= now }
      if due.count != expected { return "\(due.count) are due, expected \(expected)" }
      list.removeAll { $0.at <= now }
      guard let next else { continue }
      sleepers.append((sleeper.number, Int(next.components.seconds)))
    }
    return nil
  }
}
