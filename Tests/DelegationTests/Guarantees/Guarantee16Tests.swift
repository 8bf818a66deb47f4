import Delegation
import Testing

@Suite("Guarantee 16: exact count", .inTurn(.heavy))
struct Guarantee16Tests {
  /// More threads than cores: one that is interrupted anywhere stands still for long.
  private static let pool = ThreadPool(threads: 6)

  @Test("each notification is counted once for each subscriber, by what became of it, always")
  func notifications() {
    let (gate, stuck) = (Gate(), ManualExecutor())
    let interceptor = Hook { call, next in
      if call.id as? String == "kept" { return .notCalled }
      return await next()
    }
    let stage = Stage {
      $0.onIncident = { _ in }
      $0.interceptors = [interceptor]
    }
    let probes = ["handles", "fails", "hangs", "limited", "ends", "dies", "kept"]
    var mortal: Probe?
    let tokens = probes.map { name in
      let probe = Probe(name)
      if name == "dies" { mortal = probe }
      return stage.hub.subscribe(
        probe, to: Listener.self, id: name, hold: name == "dies" ? .weakly : .strongly,
        mailbox: name == "limited" ? .dropOldest(limit: 2) : nil, on: name == "dies" ? stuck : nil)
    }
    // What nobody is subscribed to is not counted.
    stage.hub.bystanders.notify { _ in }
    for _ in 0..<6 {
      stage.listeners.notify { probe in
        if ["hangs", "limited", "ends"].contains(probe.name) { await gate.pass() }
        if probe.name == "fails" { throw Refusal() }
      }
    }
    stage.run()
    var expected = [
      counts(handled: 6), counts(failed: 6), counts(waiting: 5, handling: 1),
      counts(dropped: 4, waiting: 1, handling: 1), counts(waiting: 5, handling: 1),
      counts(waiting: 6),
      counts(passedOver: 6),
    ]
    func check(_ sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(tokens.map(\.statistics.counts) == expected, sourceLocation: sourceLocation)
      let statistics = stage.hub.statistics()
      #expect(statistics.posted == 6 && statistics.addressed == 42, sourceLocation: sourceLocation)
      #expect(stage.counted == stage.listeners.statistics?.counts, sourceLocation: sourceLocation)
      let keys: [KeyPath<DelegateHub.Statistics.Counts, Int>] = [
        \.handled, \.failed, \.expired, \.dropped, \.cancelled, \.passedOver, \.waiting, \.handling,
      ]
      for key in keys {
        let sum = expected.reduce(0) { $0 + $1[keyPath: key] }
        #expect(stage.counted[keyPath: key] == sum, "\(key)", sourceLocation: sourceLocation)
      }
    }
    check()
    tokens[4].cancel()
    expected[4] = counts(cancelled: 5, handling: 1)
    check()
    mortal = nil
    _ = stage.listeners.count
    stuck.run()
    expected[5] = counts(expired: 6)
    check()
    stage.open(gate)
    (expected[2], expected[3]) = (counts(handled: 6), counts(handled: 2, dropped: 4))
    expected[4] = counts(handled: 1, cancelled: 5)
    check()
    _ = mortal
  }

  @Test("each question is counted once for each whom it is put to, by how its handler ended")
  func questions() {
    let (stage, gate) = (Stage { $0.onIncident = { _ in } }, Gate())
    stage.hub.cast(4)
    func counts() -> [Int] {
      let questions = stage.hub.statistics().questions
      let each = [
        questions.answered, questions.failed, questions.late, questions.abandoned,
        questions.answering,
      ]
      #expect(each.reduce(0, +) == questions.asked)
      return each
    }
    func ask(_ body: @escaping @Sendable (any Listener) async throws -> Bool) {
      _ = stage.start { await $0.listeners.vote(within: .seconds(1), absent: .abstains, body) }
    }
    ask { _ in true }
    #expect(counts() == [4, 0, 0, 0, 0])
    ask { if $0.name < "2" { throw Refusal() } else { true } }
    #expect(counts() == [6, 2, 0, 0, 0])
    // Decided by the second one: those after it are not asked.
    ask { $0.name != "1" }
    #expect(counts() == [8, 2, 0, 0, 0])
    // Decided by the last one, while the others are asked.
    ask { probe in
      if probe.name != "3" { await gate.pass() }
      return probe.name != "3"
    }
    #expect(counts() == [9, 2, 0, 0, 3])
    // Two are late: as long as they run they are being answered.
    ask { probe in
      if probe.name > "1" { await gate.pass() }
      return true
    }
    stage.advance(by: .seconds(1))
    #expect(counts() == [11, 2, 0, 0, 5])
    stage.open(gate)
    #expect(counts() == [11, 2, 2, 3, 0])
    stage.listeners.forEach { _ in }
    try? stage.listeners.forEach { if $0.name == "1" { throw Refusal() } }
    #expect(counts() == [16, 3, 2, 3, 0])
  }

  @Test("amid a storm all that was addressed is accounted for", arguments: seeds(6))
  func storm(seed: UInt64) async {
    let executor: ThreadPool? = seed % 2 == 0 ? Self.pool : nil
    let storm = Storm(on: executor)
    let times = rounds(600, atLeast: 500).count
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask(executorPreference: executor) {
          await storm.rage(seed: 100 * seed + UInt64(task), times: times)
        }
      }
    }
    await storm.hub.drain()
    storm.check()
    #expect(storm.wrong.history == [])
    let statistics = storm.hub.statistics()
    #expect(statistics.protocols.map(\.name) == ["DelegationTests.Listener"])
    let counts = statistics.counts
    #expect(
      [statistics.posted, counts.handled, counts.failed]
        == storm.tallied([.posted, .handled, .failed]))
    #expect(counts.waiting + counts.handling == 0)
    let questions = statistics.questions
    let begun = storm.tallied([.asked])[0]
    // Some are late before they have begun, if their executor is busy.
    let late = executor == nil ? 0 : questions.late
    #expect(begun...(begun + late) ~= questions.asked, "\(begun) of \(questions)")
    #expect(questions.answering == 0 && storm.askedOfAll <= questions.asked)
    // A storm in which nothing of the kind happened would prove nothing.
    #expect(counts.expired > 0 && counts.dropped > 0 && counts.cancelled > 0)
  }
}
