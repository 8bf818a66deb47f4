import Testing

@testable import Delegation

@Suite("Statistics", .inTurn)
struct StatisticsTests {
  @Test("the description tells all, protocol by protocol and subscriber by subscriber")
  func description() {
    let stage = Stage { $0.onIncident = { _ in } }
    let gate = Gate()
    let (plain, named, both) = (Probe("plain"), Probe("named"), Probe("both"))
    stage.hub.subscribe(plain, to: Listener.self, fileID: "Shop/Cart.swift", line: 1)
    stage.hub.subscribe(
      named, to: Listener.self, priority: 1, id: "quota", mailbox: .latest,
      fileID: "Shop/Quota.swift",
      line: 2)
    stage.hub.subscribe(both, to: Listener.self, fileID: "Shop/Cart.swift", line: 3)
    stage.hub.subscribe(both, to: Bystander.self, fileID: "Shop/Cart.swift", line: 4)
    stage.hub[Bystander.self].notify() { _ in }
    stage.hub[Listener.self].notify() { probe in
      if probe.name == "named" { await gate.pass() }
      if probe.name == "plain" { throw Refusal() }
    }
    stage.run()
    for _ in 0..<3 { stage.hub[Listener.self].notify() { _ in } }
    stage.run()
    let text = stage.statistics?.description
    #expect(
      text == """
        DelegationTests.Bystander: posted 1, addressed 1, handled 1, failed 0, expired 0, dropped 0, \
        cancelled 0, waiting 0, handling 0
          DelegationTests.Probe, subscribed at Shop/Cart.swift:4: running 0, handled 1, failed 0, \
        expired 0, dropped 0, cancelled 0, waiting 0, handling 0
        DelegationTests.Listener: posted 4, addressed 12, handled 7, failed 1, expired 0, dropped 2, \
        cancelled 0, waiting 1, handling 1
          DelegationTests.Probe (quota), subscribed at Shop/Quota.swift:2: running 1, handled 0, \
        failed 0, expired 0, dropped 2, cancelled 0, waiting 1, handling 1
          DelegationTests.Probe, subscribed at Shop/Cart.swift:1: running 0, handled 3, failed 1, \
        expired 0, dropped 0, cancelled 0, waiting 0, handling 0
          DelegationTests.Probe, subscribed at Shop/Cart.swift:3: running 0, handled 4, failed 0, \
        expired 0, dropped 0, cancelled 0, waiting 0, handling 0
        """)
    stage.open(gate)
    withExtendedLifetime((plain, named, both)) {}
  }

  @Test("of more than twenty subscribers the description lists those that need attention most")
  func descriptionOfMany() throws {
    let stage = Stage { $0.onIncident = { _ in } }
    let gate = Gate()
    let probes = Probe.many(60)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(
        probe, to: Listener.self, mailbox: .latest, fileID: "A.swift", line: UInt(number))
      stage.hub.subscribe(probe, to: Bystander.self, fileID: "B.swift", line: UInt(number))
    }
    // The 5 that hang have one handler that runs, one that waits and 2 dropped; 14 have failed once.
    for _ in 0..<4 {
      stage.hub[Listener.self].notify() { if Int($0.name)! % 12 == 7 { await gate.pass() } }
      stage.run()
    }
    stage.hub[Bystander.self].notify() {
      if Int($0.name)! % 4 == 1, $0.name != "1" { throw Refusal() }
    }
    stage.run()
    let statistics = try #require(stage.statistics)
    let text = statistics.description.split(separator: "\n")
    let listed = text.compactMap { line -> String? in
      let words = line.split(separator: " ")
      return line.hasPrefix("  ") ? String(words[3].dropLast()) : nil
    }
    let failed = (0..<60).filter { $0 % 4 == 1 && $0 != 1 }.map { "B.swift:\($0)" }
    let hanging = (0..<60).filter { $0 % 12 == 7 }.map { "A.swift:\($0)" }
    #expect(listed.count == 20)
    // One more, in the order in which they are served, as nothing distinguishes the rest.
    #expect(Set(listed).isSuperset(of: failed + hanging))
    #expect(text.last == "and 100 more subscribers")
    #expect(text.count == 23)
    #expect(statistics.protocols.map(\.subscribers.count) == [60, 60])
    let own = statistics.protocols[1].description.split(separator: "\n")
    #expect(own.count == 22)
    #expect(own.last == "and 40 more subscribers")
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("one protocol's statistics are its part of all, without its subscribers")
  func oneProtocol() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, toEachOf: Listener.self, Bystander.self) }
    #expect(await hub[(any Sendable).self].statistics == nil)
    hub[Listener.self].notify() { $0.log.record(1) }
    _ = await hub[Listener.self].vote() { _ in true }
    await hub.drain()
    let all = await hub.statistics().protocols.first { $0.addressed > 0 }
    for one in [
      await hub[Listener.self].statistics, await hub[Listener.self].statistics,
    ] {
      #expect(one?.name == all?.name)
      #expect(one?.posted == 1)
      #expect(one?.addressed == 3)
      #expect(one?.counts == all?.counts)
      #expect(one?.questions == all?.questions)
      #expect(one?.subscribers.isEmpty == true)
    }
    withExtendedLifetime(probes) {}
  }

  @Test("the hub's totals are the sums over its protocols")
  func totals() {
    let stage = Stage()
    let probes = stage.cast(3)
    stage.hub.subscribe(probes[0], to: Bystander.self)
    for _ in 0..<5 { stage.hub[Listener.self].notify() { _ in } }
    for _ in 0..<7 { stage.hub[Bystander.self].notify() { _ in } }
    stage.run()
    let statistics = stage.statistics
    #expect(statistics?.posted == 12)
    #expect(statistics?.addressed == 22)
    #expect(statistics?.counts.handled == 22)
    #expect(statistics?.counts.addressed == 22)
  }

  @Test("counts are added kind by kind, and their total is the sum of all kinds")
  func adding() {
    var counts = Account(
      handled: 1, failed: 2, expired: 4, dropped: 8, cancelled: 16, passedOver: 32, waiting: 64,
      handling: 128)
    #expect(counts.addressed == 255)
    counts += Account(
      handled: 100, failed: 200, expired: 300, dropped: 400, cancelled: 500, passedOver: 600,
      waiting: 700, handling: 800)
    #expect(
      counts
        == Account(
          handled: 101, failed: 202, expired: 304, dropped: 408, cancelled: 516, passedOver: 632,
          waiting: 764, handling: 928))
    var questions = QuestionAccount(answered: 1, failed: 2, late: 4, abandoned: 8, answering: 16)
    #expect(questions.asked == 31)
    questions += QuestionAccount(
      answered: 100, failed: 200, late: 300, abandoned: 400, answering: 500)
    #expect(
      questions
        == QuestionAccount(answered: 101, failed: 202, late: 304, abandoned: 408, answering: 516))
    #expect(
      "\(counts)"
        == "handled 101, failed 202, expired 304, dropped 408, cancelled 516, passed over 632, "
        + "waiting 764, handling 928")
    #expect("\(Account(passedOver: 1))".contains("cancelled 0, passed over 1, waiting 0"))
  }

  @Test("the description tells of questions as well, were there but one")
  func descriptionOfQuestions() {
    let (stage, probe) = (Stage(), Probe())
    stage.hub.subscribe(probe, to: Listener.self, fileID: "Shop/Cart.swift", line: 1)
    #expect(stage.statistics?.description == "no calls")
    #expect(stage.perform { await $0[Listener.self].vote() { _ in true } } == true)
    let told = "asked 1, answered 1, failed 0, late 0, abandoned 0, answering 0"
    #expect(
      stage.statistics?.description == """
        DelegationTests.Listener: \(told)
          DelegationTests.Probe, subscribed at Shop/Cart.swift:1: running 0; \(told)
        """)
  }

  @Test("before anybody subscribed there is nothing to tell, and nothing is counted")
  func nothing() {
    let stage = Stage()
    stage.hub[Listener.self].notify() { _ in }
    #expect(stage.statistics?.protocols.isEmpty == true)
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self).cancel()
    stage.hub[Listener.self].notify() { _ in }
    #expect(stage.statistics?.posted == 0)
    #expect(stage.statistics?.addressed == 0)
    #expect(stage.statistics?.protocols.map(\.name) == ["DelegationTests.Listener"])
  }

  @Test("questions are not among what was addressed, but their running handlers are shown")
  func questions() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(2)
    let vote = stage.start { hub in
      await hub[Listener.self].vote() { _ in
        await gate.pass()
        return true
      }
    }
    #expect(stage.statistics?.protocols.first?.subscribers.map(\.running) == [1, 1])
    #expect(stage.statistics?.addressed == 0)
    stage.open(gate)
    #expect(vote.result == true)
    #expect(stage.statistics?.protocols.first?.subscribers.map(\.running) == [0, 0])
    withExtendedLifetime(probes) {}
  }

  @Test("what subscribers of the past have handled stays counted")
  func thePast() {
    let stage = Stage()
    var mortal: Probe? = Probe("mortal")
    let (leaves, stays) = (Probe("leaves"), Probe("stays"))
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    let subscription = stage.hub.subscribe(leaves, to: Listener.self)
    stage.hub.subscribe(stays, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    // Two wait for each; those of the mortal and of the leaving one come to nothing.
    stage.hub[Listener.self].notify() { _ in }
    stage.hub[Listener.self].notify() { _ in }
    mortal = nil
    subscription.cancel()
    stage.run()
    let item = stage.statistics?.protocols.first
    #expect(
      item.map { "\($0.counts)" }
        == "handled 5, failed 0, expired 2, dropped 0, cancelled 2, waiting 0, handling 0")
    #expect(item?.addressed == 9)
    #expect(item?.subscribers.count == 1)
    withExtendedLifetime((leaves, stays)) {}
  }

  @Test("one that was removed is shown as long as its handler runs")
  func removedAndRunning() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    subscription.cancel()
    #expect(
      stage.counts == [
        "handled 0, failed 0, expired 0, dropped 0, cancelled 1, waiting 0, handling 1"
      ])
    stage.open(gate)
    #expect(stage.counts == [])
    #expect(
      stage.statistics.map { "\($0.counts)" }
        == "handled 1, failed 0, expired 0, dropped 0, cancelled 1, waiting 0, handling 0")
    withExtendedLifetime(probe) {}
  }

  @Test("subscribers are shown in the order in which they are served, before any call as well")
  func order() {
    let stage = Stage()
    let probes = Probe.many(4)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(
        probe, to: Listener.self, priority: [0, 5, -1, 5][number], fileID: "p",
        line: UInt(number))
    }
    let served = ["p:1", "p:3", "p:0", "p:2"]
    #expect(stage.statistics?.protocols.first?.subscribers.map(\.site) == served)
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    #expect(stage.statistics?.protocols.first?.subscribers.map(\.site) == served)
  }

  @Test("to look into the hub while subscriptions are being ended loses nothing of what waited")
  func whileEnding() {
    let stage = Stage()
    let looks = Recorder<Int?>()
    let probes = stage.cast(8)
    for _ in 0..<2 {
      // Nobody but the hub holds it: it dies in the midst of the others' ends.
      let mortal = Probe(onDeath: { looks.record(stage.statistics?.counts.addressed) })
      stage.hub.subscribe(mortal, to: Listener.self, hold: .strongly)
    }
    for _ in 0..<3 { stage.hub[Listener.self].notify() { _ in } }
    stage.hub.unsubscribeAll(from: Listener.self)
    #expect(looks.history == [30, 30])
    #expect(
      stage.statistics.map { "\($0.counts)" }
        == "handled 0, failed 0, expired 0, dropped 0, cancelled 30, waiting 0, handling 0")
    withExtendedLifetime(probes) {}
  }

  /// An id that notes when it is put into words.
  private struct Talkative: Hashable, CustomStringConvertible {
    let number: Int
    let words = Recorder<Int>()

    static func == (one: Self, other: Self) -> Bool { one.number == other.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }

    var description: String {
      words.record(number)
      return "number \(number)"
    }
  }

  @Test("an id is put into words when somebody reads them, and not before")
  func wordsOnDemand() {
    let stage = Stage()
    let (probe, id) = (Probe(), Talkative(number: 7))
    stage.hub.subscribe(probe, to: Listener.self, id: id)
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    let item = stage.statistics?.protocols.first?.subscribers.first
    #expect(item?.counts.handled == 1)
    #expect(id.words.history == [])
    #expect(item?.subscriber == "DelegationTests.Probe (number 7)")
    #expect(id.words.history == [7])
    withExtendedLifetime(probe) {}
  }

  @Test("statistics keep no subscriber alive, and name those that have died since")
  func outliving() {
    let stage = Stage()
    var mortal: Probe? = Probe()
    weak let trace = mortal
    if let mortal {
      stage.hub.subscribe(
        mortal, to: Listener.self, id: "quota", hold: .strongly, fileID: "Shop/Quota.swift", line: 2
      )
    }
    let statistics = stage.statistics
    stage.hub.unsubscribeAll(from: Listener.self)
    mortal = nil
    #expect(trace == nil)
    let item = statistics?.protocols.first?.subscribers.first
    #expect(item?.subscriber == "DelegationTests.Probe (quota)")
    #expect(item?.site == "Shop/Quota.swift:2")
  }
}
