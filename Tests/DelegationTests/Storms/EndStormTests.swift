import Testing

@testable import Delegation

@Suite("Storm: what ends while others call", .inTurn(.heavy))
struct EndStormTests {
  private static let pool = ThreadPool(threads: 2)

  /// The only owner of a hub, until that is taken.
  private final class Owner: Sendable {
    private let hub: Lock<DelegateHub?>

    init(_ hub: DelegateHub) { self.hub = Lock(hub) }

    func take() -> DelegateHub? { hub.withLock { $0.take() } }
  }

  @Test("what was posted before a hub was released is delivered, though others cancel meanwhile")
  func hubs() async {
    let (members, witness) = ((0..<3).map { _ in Probe.many(512) }, Probe("witness"))
    var dice = Dice(seed: Effort.firstSeed)
    for _ in races(150) {
      let owners = members.map { members in
        let hub = DelegateHub()
        let subscriptions = members.map { hub.subscribe($0, to: Listener.self) }
        hub.subscribe(witness, to: Bystander.self)
        // With the 512th end the list is merged, which frees memory.
        for subscription in subscriptions.dropLast() { subscription.cancel() }
        return (owner: Owner(hub), last: subscriptions.last)
      }
      let (meeting, read) = (Meeting(of: 6), Recorder<Void>())
      let pauses = (0..<6).map { _ in dice.roll(300) }
      Threads.run(6) { index in
        let (owner, last) = owners[index / 2]
        meeting.await(0)
        for _ in 0..<pauses[index] { _ = read.count }
        if index % 2 == 0 {
          last?.cancel()
        } else {
          owner.take()?[Bystander.self].notify { _ in read.record(()) }
        }
      }
      // One that is lost is waited for in vain.
      _ = await read.history(of: 3)
    }
    withExtendedLifetime((members, witness)) {}
  }

  /// Looks at the hub when it is released, which would hang under the hub's lock.
  private final class LookingID: Hashable, Sendable {
    private let hub: DelegateHub
    private let count: Count

    init(_ hub: DelegateHub, _ count: Count) { (self.hub, self.count) = (hub, count) }

    deinit {
      _ = hub[Listener.self].count
      count.add(1)
    }

    static func == (one: LookingID, other: LookingID) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  @Test("options are released outside of the locks, however they are replaced and ended")
  func options() async {
    let (hub, released, probes) = (DelegateHub(), Count(), Probe.many(2))
    var made = 0
    for _ in races(300) {
      made += 12
      Threads.run(4) { index in
        for number in 0..<3 {
          let subscription = hub.subscribe(
            probes[index % 2], to: Listener.self, id: LookingID(hub, released),
            hold: number == 1 ? .strongly : nil, mailbox: number == 2 ? .latest : nil)
          if index == 0 { subscription.cancel() }
        }
      }
      hub.unsubscribeAll(from: Listener.self)
    }
    #expect(hub[Listener.self].isEmpty)
    #expect(released.value == made)
  }

  @Test(
    "each question ends once, whatever cancels, takes over or throws, and the counts only grow",
    arguments: seeds(4))
  func questions(seed: UInt64) async {
    let hub = DelegateHub { $0.onIncident = { _ in } }
    let (subscriptions, kept) = (Recorder<DelegateHub.Subscription>(), Recorder<Probe>())
    let (begun, ended, wrong) = (Count(), Count(), Recorder<String>())
    await withTaskGroup { group in
      for task in 0..<5 {
        group.addTask {
          var dice = Dice(seed: seed &* 31 &+ UInt64(task))
          for _ in rounds(150, atLeast: 20) {
            let deed = dice.roll(6)
            let ask: @Sendable (any Listener) async throws -> Bool = { _ in
              begun.add(1)
              if deed > 1 { await Task.yield() }
              if deed == 1 || deed == 2 { throw Refusal() }
              if deed == 3 { try await Task.sleep(for: .seconds(600)) }
              return deed != 4
            }
            let milliseconds = Duration.milliseconds(dice.roll(3))
            switch dice.roll(8) {
            case 0, 1:
              let probe = Probe()
              if dice.roll(4) > 0 { kept.record(probe) }
              subscriptions.record(
                hub.subscribe(
                  probe, to: Listener.self, id: dice.roll(5),
                  on: dice.roll(4) == 0 ? Self.pool : nil))
            case 2: subscriptions.history.randomElement(using: &dice)?.cancel()
            case 3: await subscriptions.history.randomElement(using: &dice)?.cancelAndWait()
            case 4:
              _ = await hub[Listener.self].vote(
                within: milliseconds, absent: .counts(as: false), ask)
            case 5: _ = await hub[Listener.self].collect(within: milliseconds, ask)
            case 6:
              _ = await hub[Listener.self].askInTurn(eachWithin: milliseconds, absent: .abstains) {
                try await ask($0) ? nil : 1
              }
            default:
              let caller = Task { try? await hub[Listener.self].vote(ask) }
              for _ in 0..<dice.roll(5) { await Task.yield() }
              caller.cancel()
              _ = await caller.value
            }
          }
          ended.add(1)
        }
      }
      group.addTask {
        var former = QuestionAccount()
        while ended.value < 5 {
          let now = await hub.questions()
          let isGrowing =
            now.answered >= former.answered && now.failed >= former.failed
            && now.late >= former.late && now.abandoned >= former.abandoned && now.answering >= 0
          if !isGrowing { wrong.record("\(former), then \(now)") }
          former = now
          await Task.yield()
        }
      }
    }
    #expect(await hub.drain().isEmpty)
    let questions = await hub.questions()
    #expect(wrong.history.isEmpty, "\(wrong.history.prefix(3))")
    #expect(questions.answering == 0)
    // Some were late before they had begun.
    #expect(begun.value...(begun.value + questions.late) ~= questions.asked, "\(questions)")
    let sum = Set(subscriptions.history).map(\.statistics.questions)
      .reduce(into: QuestionAccount()) { $0 += $1 }
    #expect(questions == sum)
  }
}
