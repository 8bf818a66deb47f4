import Delegation
import Testing

private protocol Progress: AnyObject, Sendable {
  var name: String { get }
  var log: Recorder<Int> { get }
}

private protocol Pausable: AnyObject, Sendable {
  var log: Recorder<Int> { get }
}

/// Not bound to objects: a value of it is five words, and not the object's address and a table.
private protocol Unbounded: Sendable {
  func record(_ number: Int)
}

private final class Both: Listener, Progress {
  let name: String
  let log = Recorder<Int>()
  init(_ name: String = "both") { self.name = name }
}

private final class All: Listener, Progress, Pausable, Unbounded {
  let name = "all"
  let log = Recorder<Int>()
  func record(_ number: Int) { log.record(number) }
}

private final class OnlyProgress: Progress {
  let name = "only"
  let log = Recorder<Int>()
}

@Suite("conforming(to:): optional methods", .inTurn)
struct ConformingTests {
  private let delegates = Delegates<any Listener>(of: DelegateHub(.init(onIncident: { _ in })))
  private var progress: Delegates<any Progress> { delegates.conforming(to: Progress.self) }
  private let plain = Probe("plain")
  private let both = Both()

  init() {
    delegates.registry.subscribe(plain)
    delegates.registry.subscribe(both)
  }

  @Test("it reaches those that conform, in the order of all others", arguments: [false, true])
  func order(isAsynchronous: Bool) async {
    for round in 0..<200 {
      delegates.notify { $0.log.record(2 * round) }
      if isAsynchronous {
        progress.notify { subscriber in
          if round.isMultiple(of: 3) { await Task.yield() }
          subscriber.log.record(2 * round + 1)
        }
      } else {
        progress.notify { $0.log.record(2 * round + 1) }
      }
    }
    let outcome = await progress.notifyAndWait { $0.log.record(400) }
    #expect(outcome.isHandled && (outcome.addressed, outcome.handled) == (1, 1))
    #expect(both.log.history == Array(0...400))
    await delegates.hub.drain()
    #expect(plain.log.history == (0..<200).map { 2 * $0 })
    let counts = delegates.hub.statistics().counts
    #expect(counts.description == told(handled: 200 + 401, passedOver: 201))
  }

  @Test("it waits in the base's own mailbox, where who does not conform passes it over in its turn")
  func mailbox() async {
    let gate = Gate()
    let slow = Both("slow")
    delegates.registry.subscribe(slow, mailbox: .latest)
    delegates.notify { if $0.name == "slow" { await gate.pass() } }
    await gate.arrivals()
    delegates.notify { $0.log.record(1) }
    progress.notify { $0.log.record(2) }
    gate.open()
    await delegates.hub.drain()
    #expect(slow.log.history == [2] && both.log.history == [1, 2] && plain.log.history == [1])
  }

  @Test("questions ask those that conform; the others count as absent, and forEach passes them")
  func questions() async {
    #expect(await progress.ask(combining: .sum()) { _ in 1 } == 1)
    #expect(await progress.ask(combining: .sum(), absent: .counts(as: 100)) { _ in 1 } == 1)
    #expect(await progress.collect { _ in 1 }.count == 1)
    #expect(await !progress.vote(by: .atLeast(2)) { _ in true })
    #expect(await progress.vote(by: .atLeast(1)) { _ in true })
    #expect(await progress.askInTurn { $0.name } == "both")
    #expect(await progress.pass(1, within: .seconds(600), absent: .abstains) { $1 * 2 } == 2)
    var called: [String] = []
    progress.forEach { called.append($0.name) }
    #expect(called == ["both"] && delegates.hub.statistics().questions.asked == 7)
  }

  @Test("isEmpty, count and subscribers are those of the ones that conform")
  func looking() {
    #expect(!progress.isEmpty && progress.count == 1)
    #expect(progress.subscribers.map(\.name) == ["both"])
    delegates.registry.unsubscribe(both)
    #expect(progress.isEmpty && progress.count == 0 && !delegates.isEmpty)
  }

  @Test("again: of those that conform to several; a class will do as well")
  func chained() async {
    let all = All()
    delegates.registry.subscribe(all)
    let chain = progress.conforming(to: Pausable.self).conforming(to: Unbounded.self)
    chain.notify { $0.record(1) }
    delegates.conforming(to: Both.self).notify { $0.log.record(2) }
    await delegates.hub.drain()
    #expect([plain.log, both.log, all.log].map(\.history) == [[], [2], [1]] && chain.count == 1)
    #expect(progress.conforming(to: Listener.self).count == 2)
    // It is the chain that counts, not its end alone.
    #expect(delegates.conforming(to: Pausable.self).conforming(to: Progress.self).count == 1)
  }

  @Test("a subscriber that has died ends as expired, whoever finds out")
  func dead() async {
    for isKnown in [false, true] {
      let delegates = Delegates<any Listener>(of: DelegateHub(.init(onIncident: { _ in })))
      let progress = delegates.conforming(to: Progress.self)
      var subscriber: Both? = Both()
      let subscription = delegates.registry.subscribe(subscriber!)
      if isKnown { await progress.notifyAndWait { $0.log.record(1) } }
      subscriber = nil
      progress.notify { $0.log.record(2) }
      await delegates.hub.drain()
      #expect(!subscription.isActive)
      #expect(await progress.ask(combining: .sum()) { _ in 1 } == 0)
      #expect(progress.isEmpty)
      let counts = delegates.hub.statistics().counts
      #expect(counts.description == told(handled: isKnown ? 1 : 0, expired: 1))
    }
  }

  @Test("its registry subscribes to the base protocol, and takes those alone that conform to both")
  func registry() async {
    let delegates = Delegates<any Listener>()
    let registry = delegates.conforming(to: Progress.self).registry
    registry.subscribe(both)
    #expect(delegates.count == 1)
    registry.unsubscribe(both)
    #expect(delegates.isEmpty)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Delegates<any Listener>().conforming(to: Progress.self).registry.subscribe(OnlyProgress())
    }
    #expect(said(result, "OnlyProgress does not conform to Listener"))
  }

  @Test(
    "one that does not conform is not sent to its executor, and is not late",
    arguments: [nil, Duration.seconds(1)], [true, false])
  func executors(duration: Duration?, isPlainFirst: Bool) {
    let incidents = Recorder<String>()
    let stage = Stage { $0.onIncident = { incidents.record($0.description) } }
    let stuck = ManualExecutor()
    stage.hub.subscribe(plain, to: Listener.self, priority: isPlainFirst ? 1 : -1, on: stuck)
    stage.hub.subscribe(both, to: Listener.self)
    let progress = stage.hub[Listener.self].conforming(to: Progress.self)
    let answers = stage.perform { _ -> [String?] in
      var answers = [
        "\(await progress.collect(within: duration) { $0.name }.compactMap { try? $0.result.get() })",
        "\(await progress.ask(combining: .all(), within: duration, absent: .counts(as: "late")) { $0.name })",
        "\(await progress.vote(within: duration, absent: .counts(as: false)) { _ in true })",
        "\(await progress.vote(by: .atLeast(2), within: duration, absent: .counts(as: true)) { _ in true })",
        await progress.askInTurn(within: duration, absent: .counts(as: "late")) { $0.name },
        await progress.pass("v", within: duration, absent: .counts(as: "late")) { $1 + $0.name },
      ]
      guard duration == nil else { return answers }
      answers += [
        "\(await progress.vote { _ in true }) \(await progress.vote(by: .atLeast(2)) { _ in true })",
        "\(await progress.ask(combining: .all()) { $0.name })",
        await progress.askInTurn { $0.name }, await progress.pass("v") { $1 + $0.name },
      ]
      return answers
    }
    let expected = ["[\"both\"]", "[\"both\"]", "true", "false", "both", "vboth"]
    #expect(
      answers
        == expected + (duration == nil ? ["true false", "[\"both\"]", "both", "vboth"] : []))
    #expect(stuck.pending == 0)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(incidents.history == [])
  }
}
