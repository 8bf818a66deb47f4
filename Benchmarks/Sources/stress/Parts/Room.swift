import Delegation

/// What somebody says in a room.
struct Message: Sendable {
  let note: Note
  let isRude: Bool
}

protocol RoomRule: AnyObject, Sendable {
  func allows(_ message: Message) async -> Bool
}

protocol RoomObserver: AnyObject, Sendable {
  func didDecide(on message: Message, isAllowed: Bool) async
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
    private let (life, talker): (Life, Int)
    init(_ talker: Int, in world: World) { (life, self.talker) = (Life(in: world), talker) }
    func allows(_ message: Message) async -> Bool { message.note.poster != talker }
  }

  /// Counts, and watches that each talker's messages are told in the order in which they were said.
  private final class Witness: RoomObserver {
    let (delivered, vetoed) = (Counter(), Counter())
    private let book: Notebook

    init(in world: World) { book = Notebook("a room", in: world, isGapless: true) }

    func didDecide(on message: Message, isAllowed: Bool) async {
      (isAllowed ? delivered : vetoed).add()
      book.enter(message.note)
    }
  }

  private let world: World
  private let moderator = Moderator()
  private let witnesses: [Witness]
  private let (delivered, vetoed, mutings, shown) = (Counter(), Counter(), Counter(), Counter())

  private var rules: Delegates<any RoomRule> { world.hub[(any RoomRule).self] }
  private var observers: Delegates<any RoomObserver> { world.hub[(any RoomObserver).self] }
  private let topic: Events<Int>
  private let rarely: Events<String>

  init(in world: World) {
    self.world = world
    witnesses = (0..<3).map { _ in Witness(in: world) }
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
          let new = Mute(dice.roll(world.tasks), in: world)
          rules.registry.subscribe(new, id: index)
          mute = new
          mutings.add()
        case 1...10:
          // It is released, and so ends.
          mute = nil
        case 11: await lookAtTopic()
        case 12: await callAll(isWaiting: dice.hits(2))
        default:
          number += 1
          let note = Note(poster: index, number: number)
          await say(Message(note: note, isRude: dice.hits(10)), mutes: mute)
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
    let tell: @Sendable (any RoomObserver) async -> Void = {
      await $0.didDecide(on: message, isAllowed: isAllowed)
    }
    // What a slow observer has yet to hear is bounded.
    let mustWait = message.note.number % 16 == 0
    if mustWait { await observers.notifyAndWait(leaving: 2, tell) } else { observers.notify(tell) }
    world.tally.count(mustWait ? .window : .notify)
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
    let watcher = Task { [demand = rarely.demand, world] in
      var last: Bool?
      for await isWanted in demand {
        world.violations.check(isWanted != last, "room: demand said the same twice")
        last = isWanted
        world.tally.count(.demand)
      }
    }
    while !world.limits.isReached {
      let subscription = rarely.registry.observe { _ in }
      try? await Task.sleep(for: .milliseconds(1))
      subscription.cancel()
      try? await Task.sleep(for: .milliseconds(1))
    }
    watcher.cancel()
    await watcher.value
  }

  func audit() {
    for witness in witnesses {
      world.violations.check("room, told", hub: witness.delivered.value, own: delivered.value)
      world.violations.check("room, told of vetoes", hub: witness.vetoed.value, own: vetoed.value)
    }
    observers.registry.unsubscribeAll()
    world.tally.count(.unsubscribeAll)
    world.hub.unsubscribe(moderator)
  }

  var sum: String {
    "\((delivered.value + vetoed.value).short) messages = \(delivered.value.short) delivered + \(vetoed.value.short) vetoed, "
      + "told to \(witnesses.count) in order; \(mutings.value.short) rules came and went"
  }
}
