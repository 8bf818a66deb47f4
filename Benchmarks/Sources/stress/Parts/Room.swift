import Delegation

/// What somebody says in a room.
struct Message: Sendable {
  let talker: Int
  let number: Int
  let isRude: Bool
}

protocol RoomRule: AnyObject, Sendable {
  func allows(_ message: Message) async -> Bool
}

protocol RoomObserver: AnyObject, Sendable {
  func didDeliver(_ message: Message) async
  func didVeto(_ message: Message) async
}

/// A chat room, as in the demo, in which many talk at once.
///
/// Each message is voted on, and observers are told what has become of it; rules come and go meanwhile. With it the
/// present values of a topic, and the word of whether somebody listens.
final class Room: Part {
  static let name = "room"

  private actor Moderator: RoomRule {
    private(set) var asked = 0
    func allows(_ message: Message) -> Bool {
      asked += 1
      return !message.isRude
    }
  }

  private final class Mute: RoomRule {
    private let (world, talker): (World, Int)
    init(_ talker: Int, in world: World) {
      (self.world, self.talker) = (world, talker)
      world.alive.add()
    }
    deinit { world.alive.add(-1) }
    func allows(_ message: Message) async -> Bool { message.talker != talker }
  }

  /// Counts, and watches that each talker's messages are told in the order in which they were said.
  private actor Witness: RoomObserver {
    private(set) var (delivered, vetoed, outOfOrder) = (0, 0, 0)
    private var last: [Int: Int] = [:]
    func didDeliver(_ message: Message) {
      delivered += 1
      see(message)
    }
    func didVeto(_ message: Message) {
      vetoed += 1
      see(message)
    }
    private func see(_ message: Message) {
      let former = last.updateValue(message.number, forKey: message.talker) ?? 0
      if former + 1 != message.number { outOfOrder += 1 }
    }
  }

  private let world: World
  private let moderator = Moderator()
  private let witnesses = [Witness(), Witness(), Witness()]
  private let (delivered, vetoed, mutings) = (Counter(), Counter(), Counter())
  private let shown = Counter()

  private var rules: Delegates<any RoomRule> { world.hub[(any RoomRule).self] }
  private var observers: Delegates<any RoomObserver> { world.hub[(any RoomObserver).self] }
  private let topic: Events<Int>
  private let rarely: Events<String>

  init(in world: World) {
    self.world = world
    topic = Events<Int>(of: world.hub, replaying: 4)
    rarely = Events<String>(of: world.hub)
    rules.registry.subscribe(moderator, priority: 1)
    for witness in witnesses { observers.registry.subscribe(witness) }
  }

  func run() async {
    async let demand: Void = watchDemand()
    async let states: Void = changeTopic()
    await world.act(Self.name) { [self] index, dice in
      var (number, mute) = (0, Mute?.none)
      while world.limits.take() {
        switch dice.roll(100) {
        case 0:
          // Who muted somebody else before lifts that.
          if let mute { rules.registry.unsubscribe(mute) }
          let new = Mute(dice.roll(world.tasks), in: world)
          rules.registry.subscribe(new)
          mute = new
          mutings.add()
        case 1...10:
          // It is released, and so ends.
          mute = nil
        case 11: await lookAtTopic()
        case 12: await callAll(isWaiting: dice.hits(2))
        default:
          number += 1
          await say(Message(talker: index, number: number, isRude: dice.hits(10)), mutes: mute)
        }
      }
    }
    _ = await (demand, states)
  }

  private func say(_ message: Message, mutes mute: Mute?) async {
    world.tally.count(.vote)
    let isAllowed = await rules.vote(by: .unanimous(ofAtLeast: 1)) { await $0.allows(message) }
    world.violations.check(
      !(message.isRude && isAllowed), "room: a message was delivered that the moderator vetoes")
    if let mute, await !mute.allows(message) {
      world.violations.check(!isAllowed, "room: a message of a muted one was delivered")
    }
    (isAllowed ? delivered : vetoed).add()
    // What a slow observer has yet to hear is bounded.
    if message.number % 16 == 0 {
      await observers.notifyAndWait(leaving: 2) { witness in
        if isAllowed { await witness.didDeliver(message) } else { await witness.didVeto(message) }
      }
      world.tally.count(.window)
    } else {
      observers.notify { witness in
        if isAllowed { await witness.didDeliver(message) } else { await witness.didVeto(message) }
      }
      world.tally.count(.notify)
    }
  }

  /// Calls everybody in the caller's place: each is there once.
  private func callAll(isWaiting: Bool) async {
    world.tally.count(.forEach)
    var called: [ObjectIdentifier] = []
    if isWaiting {
      await rules.forEach { rule in
        await Task.yield()
        called.append(ObjectIdentifier(rule))
      }
    } else {
      rules.forEach { called.append(ObjectIdentifier($0)) }
    }
    world.violations.check(
      called.first == ObjectIdentifier(moderator) && Set(called).count == called.count,
      "room: forEach called somebody twice, or not in order")
  }

  /// A state that changes all the time: who comes late gets the last four first, and then all others.
  private func changeTopic() async {
    var number = 0
    while !world.limits.isReached {
      number += 1
      // Before, so that nobody sees more than is counted.
      shown.add()
      topic.post(number)
      if number % 8 == 0 {
        try? await Task.sleep(for: .microseconds(200))
      } else {
        await Task.yield()
      }
    }
  }

  private func lookAtTopic() async {
    world.tally.count(.replay)
    let before = shown.value
    guard before > 10 else { return }
    let stream = topic.registry.stream()
    let after = shown.value
    var last: Int?
    for _ in 0..<5 {
      guard let number = await stream.next(within: .seconds(world.limits.isReached ? 0 : 1)) else {
        break
      }
      if let last {
        world.violations.check(number == last + 1, "room: a replay has a gap before what follows")
      } else {
        // One that is counted may not have been posted yet.
        world.violations.check(
          (before - 4...after - 3).contains(number),
          "room: a replay began with \(number), when \(before) to \(after) were posted")
      }
      last = number
    }
    world.violations.check(last != nil, "room: nothing was replayed")
  }

  /// Work while somebody listens: the word alternates.
  private func watchDemand() async {
    let watcher = Task {
      [demand = rarely.demand, violations = world.violations, tally = world.tally] in
      var last: Bool?
      for await isWanted in demand {
        violations.check(isWanted != last, "room: demand said the same twice")
        last = isWanted
        tally.count(.demand)
      }
    }
    while !world.limits.isReached {
      let subscription = rarely.registry.observe { _ in }
      try? await Task.sleep(for: .milliseconds(1))
      subscription.cancel()
      try? await Task.sleep(for: .milliseconds(1))
    }
    let streams = (0..<3).map { _ in rarely.registry.stream() }
    for word in ["a", "b", "c"] { rarely.post(word) }
    rarely.finish()
    rarely.post("too late")
    for stream in streams {
      var words = ""
      for await word in stream { words += word }
      world.violations.check(words == "abc", "room: finish of all gave out \(words)")
    }
    world.violations.check(rarely.isEmpty, "room: somebody has not finished")
    watcher.cancel()
    await watcher.value
  }

  func audit() async -> String {
    let said = delivered.value + vetoed.value
    for witness in witnesses {
      let (told, against) = (await witness.delivered, await witness.vetoed)
      world.violations.check("room, delivered", hub: told, own: delivered.value)
      world.violations.check("room, vetoed", hub: against, own: vetoed.value)
      world.violations.check("room, out of order", hub: await witness.outOfOrder, own: 0)
      world.hub.unsubscribe(witness)
    }
    world.hub.unsubscribe(moderator)
    return
      "\(said.short) messages = \(delivered.value.short) delivered + \(vetoed.value.short) vetoed, "
      + "told to \(witnesses.count) in order; \(mutings.value.short) rules came and went"
  }
}
