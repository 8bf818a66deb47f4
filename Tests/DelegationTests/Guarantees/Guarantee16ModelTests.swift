import Testing

@testable import Delegation

/// A hub and the model of it, to which the same is done.
private final class Twins {
  let stage: Stage
  var model = MailboxModel()
  var dice: Dice
  /// The model's members, by the same index.
  private var probes: [Probe?] = []
  private var logs: [Recorder<Int>] = []
  private var subscriptions: [DelegateHub.Subscription] = []
  private var gates: [Int: [Gate]] = [:]
  private var lastNumber = 0
  private static let mostMembers = 40

  init(seed: UInt64) {
    dice = Dice(seed: seed)
    stage = Stage { $0.onIncident = { _ in } }
  }

  private func index(where isSuitable: (MailboxModel.Member) -> Bool) -> Int? {
    model.members.indices.filter { isSuitable(model.members[$0]) }.randomElement(using: &dice)
  }

  private var policy: DelegateHub.MailboxPolicy {
    let limit = dice.roll(4) + 1
    return [.unbounded, .dropOldest(limit: limit), .dropNewest(limit: limit), .latest]
      .randomElement(using: &dice)!
  }

  /// Does one thing to both.
  func step() {
    switch dice.roll(100) {
    case 0..<45: post(MailboxModel.Kind.allCases.randomElement(using: &dice)!)
    case 45..<55: subscribe()
    case 55..<60: changePolicy()
    case 60..<67: cancel()
    case 67..<73: bereave()
    case 73..<85: release()
    default: run()
    }
  }

  func run() {
    stage.run()
    model.run()
  }

  func end() {
    run()
    while model.members.contains(where: { $0.holding != nil }) { release() }
  }

  private func post(_ kind: MailboxModel.Kind) {
    lastNumber += 1
    let number = lastNumber
    let gates = (0..<Self.mostMembers).map { _ in Gate() }
    if kind == .waiting { self.gates[number] = gates }
    switch kind {
    case .returning:
      stage.hub[Listener.self].notify() { $0.log.record(number) }
    case .throwing:
      stage.hub[Listener.self].notify() { probe in
        probe.log.record(number)
        throw Refusal()
      }
    case .waiting:
      stage.hub[Listener.self].notify() { probe in
        probe.log.record(number)
        await gates[Int(probe.name)!].pass()
      }
    }
    model.post(number, kind)
  }

  /// A limit is applied when a mailbox is looked at, and not at once: has all of them looked at.
  private func settleLimits() {
    run()
  }

  private func subscribe() {
    guard probes.count < Self.mostMembers else { return }
    let probe = Probe("\(probes.count)")
    let policy = policy
    subscriptions.append(
      stage.hub.subscribe(
        probe, to: Listener.self, priority: dice.roll(3), mailbox: policy, fileID: "member",
        line: UInt(probes.count)))
    probes.append(probe)
    logs.append(probe.log)
    model.members.append(.init(policy: policy))
  }

  private func changePolicy() {
    guard let index = index(where: { $0.isSubscribed && !$0.isMortal && $0.policy == .unbounded }),
      let probe = probes[index]
    else { return }
    settleLimits()
    let policy = policy
    stage.hub.subscribe(probe, to: Listener.self, mailbox: policy)
    model.change(index, to: policy)
  }

  private func cancel() {
    guard let index = index(where: \.isSubscribed) else { return }
    if model.members[index].policy != .unbounded { settleLimits() }
    subscriptions[index].cancel()
    model.cancel(index)
  }

  /// Takes a subscriber's last owner away, and posts something to find that out by.
  private func bereave() {
    // With a limit it would be left open whether what waits is dropped first.
    guard let index = index(where: { !$0.isMortal && $0.policy == .unbounded }) else { return }
    probes[index] = nil
    model.members[index].isMortal = true
    post(.returning)
    run()
  }

  private func release() {
    guard let index = index(where: { $0.holding != nil }),
      let number = model.members[index].holding
    else { return }
    settleLimits()
    gates[number]?[index].open()
    model.release(index)
    run()
    if model.members[index].isMortal {
      post(.returning)
      run()
    }
  }

  /// What waits for whom, by their places in the source.
  private var expectedWaiting: [String: Int] {
    let waiting = model.members.map(\.waiting.count)
    return Dictionary(
      uniqueKeysWithValues: waiting.enumerated().map { ("member:\($0)", $1) }
    ).filter { $0.value > 0 }
  }

  /// Compares both.
  func compare(_ step: Int) -> Bool {
    guard let statistics = stage.statistics?.protocols.first else { return model.posted == 0 }
    let counts = statistics.counts
    let description =
      "posted \(statistics.posted), addressed \(statistics.addressed), handled \(counts.handled), "
      + "failed \(counts.failed), expired \(counts.expired), dropped \(counts.dropped), "
      + "cancelled \(counts.cancelled), waiting \(counts.waiting), handling \(counts.handling)"
    #expect(description == model.description, "at step \(step)")
    #expect(counts.addressed == statistics.addressed, "at step \(step)")
    for part in statistics.subscribers {
      #expect(part.counts == part.subscription.statistics.counts, "at step \(step)")
      #expect(part.counts.handling == part.running, "at step \(step)")
    }
    #expect(logs.map(\.history) == model.members.map(\.called), "at step \(step)")
    let waiting = Dictionary(
      uniqueKeysWithValues: statistics.subscribers.map { ($0.site, $0.counts.waiting) }
    ).filter { $0.value > 0 }
    #expect(waiting == expectedWaiting, "at step \(step)")
    return description == model.description
  }
}

@Suite("Guarantee 16: exact count, against a model", .inTurn)
struct Guarantee16ModelTests {
  @Test("every count is that of a model to which the same is done", arguments: seeds(12))
  func sameAsModel(seed: UInt64) {
    let twins = Twins(seed: seed)
    for step in rounds(400) {
      twins.step()
      guard step % 3 == 0 else { continue }
      twins.run()
      guard twins.compare(step) else { return }
    }
    twins.end()
    _ = twins.compare(-1)
    #expect(twins.model.waiting == 0)
    #expect(twins.model.handling == 0)
  }
}
