import Testing

@testable import Delegation

@Suite("Incidents on standard error", .inTurn)
struct IncidentLogTests {
  private let hub = DelegateHub(.init(onIncident: { _ in }))
  private let probe = Probe()
  private let start = ContinuousClock.now

  /// A number of milliseconds after the first incident.
  private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
    start + .milliseconds(milliseconds)
  }

  /// A subscription of its own for each place.
  private func subscribe(_ number: Int) -> DelegateHub.Subscription {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    return hub.subscribe(probe, to: Listener.self, fileID: "site", line: UInt(number))
  }

  private func incident(
    _ kind: DelegateHub.Incident.Kind = .failed, of subscription: DelegateHub.Subscription,
    _ reason: String = ""
  ) -> DelegateHub.Incident {
    .init(
      kind: kind, call: .notify, error: Refusal(reason: reason), dropped: 3,
      subscription: subscription, name: subscription.node.name)
  }

  /// What was written, in short.
  private func short(_ lines: [IncidentLog.Line]) -> [String] {
    lines.map { line in
      switch line {
      case .incident(let incident, let leftOut):
        "\(incident.kind) \(incident.site) \(incident.reason) \(leftOut)"
      case .others(let count): "others \(count)"
      }
    }
  }

  private func short(_ line: IncidentLog.Line?) -> String? { line.map { short([$0])[0] } }

  @Test("of one subscription and kind there is one line a second, with how many were left out")
  func oneASecond() {
    var log = IncidentLog()
    let (one, other) = (subscribe(1), subscribe(2))
    let first = log.add(incident(of: one, "0"), at: at(0))
    #expect(short(first.line) == "failed site:1 0 0")
    #expect(first.clockStart == at(1000))
    for number in 1...5 {
      let outcome = log.add(incident(of: one, "\(number)"), at: at(0))
      #expect(outcome.line == nil && outcome.clockStart == nil)
    }
    // Another kind and another subscription have lines of their own.
    #expect(short(log.add(incident(.slow, of: one, "a"), at: at(0)).line) == "slow site:1 a 0")
    #expect(short(log.add(incident(of: other, "b"), at: at(0)).line) == "failed site:2 b 0")
    let second = log.tick(at: at(1000))
    #expect(short(second.lines) == ["failed site:1 5 4"])
    #expect(second.next == at(2000))
    #expect(log.add(incident(of: one, "6"), at: at(1000)).line == nil)
    // The others were not heard of for a second: they are written at once.
    #expect(short(log.add(incident(of: other, "c"), at: at(1000)).line) == "failed site:2 c 0")
    #expect(short(log.tick(at: at(2000)).lines) == ["failed site:1 6 0"])
    let quiet = log.tick(at: at(3000))
    #expect(quiet.lines.isEmpty)
    #expect(quiet.next == nil)
    #expect(log.add(incident(of: one, "7"), at: at(3000)).clockStart == at(4000))
  }

  @Test("each subscription has a second of its own, which begins with its line")
  func ownSecond() {
    var log = IncidentLog()
    let (one, other) = (subscribe(1), subscribe(2))
    #expect(log.add(incident(of: one, "0"), at: at(0)).clockStart == at(1000))
    let late = log.add(incident(of: other, "1"), at: at(900))
    #expect(short(late.line) == "failed site:2 1 0")
    #expect(late.clockStart == nil)
    #expect(log.add(incident(of: other, "2"), at: at(950)).line == nil)
    let first = log.tick(at: at(1000))
    #expect(first.lines.isEmpty)
    #expect(first.next == at(1900))
    #expect(log.add(incident(of: other, "3"), at: at(1100)).line == nil)
    // A clock that is late does not make the next second shorter.
    let second = log.tick(at: at(1950))
    #expect(short(second.lines) == ["failed site:2 3 1"])
    #expect(second.next == at(2950))
    #expect(log.add(incident(of: other, "4"), at: at(2900)).line == nil)
    #expect(short(log.tick(at: at(2950)).lines) == ["failed site:2 4 0"])
  }

  @Test("in words")
  func words() {
    var log = IncidentLog()
    let subscription = subscribe(1)
    let line =
      "DelegateHub: DelegationTests.Probe, subscribed to DelegationTests.Listener at site:1, has a full mailbox: 3 dropped since the last time"
    #expect(log.add(incident(.dropped, of: subscription), at: at(0)).line?.text == line)
    _ = log.add(incident(.dropped, of: subscription), at: at(0))
    #expect(log.tick(at: at(1000)).lines.map(\.text) == [line])
    for _ in 0..<3 { _ = log.add(incident(.dropped, of: subscription), at: at(1000)) }
    #expect(log.tick(at: at(2000)).lines.map(\.text) == [line + " (and 2 more like it)"])
    #expect(
      IncidentLog.Line.others(12).text == "DelegateHub: and 12 more incidents of other subscribers")
  }

  @Test("what was left out before it came here is counted as well")
  func leftOutBefore() {
    var log = IncidentLog()
    let subscription = subscribe(1)
    var full = incident(of: subscription, "last")
    full.leftOut = 10
    #expect(log.add(full, at: at(0)).line?.text.hasSuffix("(10 more incidents left out)") == true)
    _ = log.add(full, at: at(0))
    _ = log.add(full, at: at(0))
    // Twelve: the eleven of the one before, and the ten of the last, which it tells itself.
    #expect(short(log.tick(at: at(1000)).lines) == ["failed site:1 last 11"])
  }

  @Test("however many subscriptions, the books have a limit, and the rest is counted")
  func bounded() {
    var log = IncidentLog()
    let subscriptions = (0..<(IncidentLog.capacity + 100)).map { subscribe($0) }
    var lines = 0
    for subscription in subscriptions {
      if log.add(incident(of: subscription), at: at(0)).line != nil { lines += 1 }
    }
    #expect(lines == IncidentLog.capacity)
    #expect(short(log.tick(at: at(1000)).lines) == ["others 100"])
    // The next second belongs to whoever comes first.
    #expect(
      short(log.add(incident(of: subscriptions[300], "now"), at: at(1000)).line)
        == "failed site:300 now 0")
    #expect(log.tick(at: at(2000)).lines.isEmpty)
    #expect(log.tick(at: at(3000)).next == nil)
    // It is counted from the start again, with what was left out before it came here.
    for subscription in subscriptions {
      var full = incident(of: subscription)
      full.leftOut = 2
      _ = log.add(full, at: at(3000))
    }
    #expect(short(log.tick(at: at(4000)).lines) == ["others 300"])
  }

  @Test("the clock goes by what comes first: the end of a second, or the number of the rest")
  func next() {
    var log = IncidentLog()
    let subscriptions = (0...IncidentLog.capacity).map { subscribe($0) }
    for subscription in subscriptions.dropLast() {
      _ = log.add(incident(of: subscription), at: at(0))
    }
    // One goes on, and another one finds no room.
    _ = log.add(incident(of: subscriptions[0]), at: at(400))
    _ = log.add(incident(of: subscriptions[IncidentLog.capacity]), at: at(500))
    #expect(log.tick(at: at(1000)).next == at(1500))
    let second = log.tick(at: at(1500))
    #expect(short(second.lines) == ["others 1"])
    #expect(second.next == at(2000))
  }

  @Test("subscribers that died unheard share the line of the place where they subscribed")
  func unheard() {
    var log = IncidentLog()
    #expect(log.add(incident(.unheard, of: subscribe(1)), at: at(0)).line != nil)
    for _ in 0..<3 { #expect(log.add(incident(.unheard, of: subscribe(1)), at: at(0)).line == nil) }
    #expect(log.add(incident(.unheard, of: subscribe(2)), at: at(0)).line != nil)
    #expect(short(log.tick(at: at(1000)).lines) == ["unheard site:1  2"])
  }

  @Test("what is left out is handed back: an error's end is not the lock's affair")
  func handedBack() {
    var log = IncidentLog()
    let subscription = subscribe(1)
    _ = log.add(incident(of: subscription, "0"), at: at(0))
    #expect(log.add(incident(of: subscription, "1"), at: at(0)).former == nil)
    #expect(log.add(incident(of: subscription, "2"), at: at(0)).former?.reason == "1")
  }

  @Test(
    "by default an incident is one line on standard error, and those of the same second one more")
  func standardErrorByDefault() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      let probe = Probe()
      let reported = Gate()
      StandardError.passOn { if $0.contains("\"99\""), $0.hasSuffix("\n") { reported.open() } }
      hub.subscribe(probe, to: Listener.self, fileID: "Door.swift", line: 3)
      for number in 0..<100 {
        hub.notify(Listener.self) { _ in throw Refusal(reason: "\(number)") }
      }
      await hub.drain()
      // In the line of the second to come, by the real clock.
      await reported.pass()
      withExtendedLifetime(probe) {}
    }
    let lines = standardError(of: result).split(separator: "\n")
    #expect(lines.first?.hasSuffix("failed in notify: Refusal(reason: \"0\")") == true)
    // One more, unless the handlers take longer than a second; on a busy machine they do.
    #expect((2..<50).contains(lines.count))
    #expect(lines.last?.contains("Refusal(reason: \"99\")") == true)
  }

  @Test("a subscription whose second is over is handed back: its end is not the lock's affair")
  func subscriptionHandedBack() {
    var log = IncidentLog()
    let lifetimes = Lifetimes()
    func add() {
      let node = Structures.node(of: Nobody(), identity: Identity(lifetimes.make()))
      _ = log.add(incident(of: .init(node: node)), at: at(0))
    }
    add()
    let outcome = log.tick(at: at(1000))
    #expect(outcome.next == nil)
    #expect(lifetimes.alive == 1, "released while the log is being changed")
    withExtendedLifetime(outcome) {}
  }
}
