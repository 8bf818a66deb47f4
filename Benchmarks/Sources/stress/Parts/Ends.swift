import Delegation
import Foundation
import Synchronization

/// Hubs that are released while others post and cancel: what was posted is delivered, and nothing of the callers' stays.
///
/// Others are drained: what was posted before is handled then. Events are closed while guests come: all of them, and those
/// who come later, hear the last one, and end.
final class Ends: Part {
  static let name = "ends"

  private protocol Reader: AnyObject, Sendable {
    func read(_ letter: Letter)
  }

  private protocol Passer: AnyObject, Sendable {}

  private final class Member: Reader, Passer {
    func read(_ letter: Letter) { letter.isRead.store(true, ordering: .releasing) }
  }

  /// What a notification keeps: when it is released, it tells whether the handler ran.
  private final class Letter: Sendable {
    let isRead = Atomic<Bool>(false)
    private let (life, lost): (Life, Counter)

    init(_ world: World, _ lost: Counter) { (life, self.lost) = (Life(in: world), lost) }

    deinit { if !isRead.load(ordering: .acquiring) { lost.add() } }
  }

  private let world: World
  private let (rounds, posted, lost) = (Counter(), Counter(), Counter())

  init(in world: World) { self.world = world }

  func run() async {
    await world.act(Self.name, max(2, world.tasks / 2)) { [self] index, dice in
      repeat {
        if index % 2 == 1 {
          await drain(&dice)
          continue
        }
        await releaseAmidPosts(&dice)
        await close(&dice)
        rounds.add()
        world.tally.count(.hubReleased)
        // This costs a thread or two each time; the others are to have their turns.
        try? await Task.sleep(for: .milliseconds(5))
      } while !world.limits.isReached
    }
  }

  /// One thread cancels subscriptions, another one posts and releases the hub.
  private func releaseAmidPosts(_ dice: inout Dice) async {
    let (members, witness) = ((0..<64).map { _ in Member() }, Member())
    var hub: DelegateHub? = DelegateHub(.init(onIncident: { _ in }))
    let subscriptions = members.map { hub!.subscribe($0, to: (any Passer).self) }
    hub!.subscribe(witness, to: (any Reader).self)
    let owner = Mutex(hub.take())
    let pause = Double(dice.roll(20)) / 1_000_000
    let thread = world.thread {
      Thread.sleep(forTimeInterval: pause)
      for subscription in subscriptions { subscription.cancel() }
    }
    var letters: [Trace] = []
    for _ in 0..<3 {
      let letter = Letter(world, lost)
      letters.append(Trace(letter: letter))
      posted.add()
      _ = world.limits.take()
      owner.withLock { $0 }?[(any Reader).self].notify { $0.read(letter) }
    }
    _ = owner.withLock { $0.take() }
    await thread.value
    // Nobody can drain a hub that is gone: the letters say when they have been read, or never will be.
    for _ in 0..<2000 where letters.contains(where: { $0.letter != nil }) {
      try? await Task.sleep(for: .microseconds(100))
    }
    withExtendedLifetime((members, witness)) {}
  }

  private struct Trace {
    weak var letter: Letter?
  }

  /// Several tasks post; some handlers run on a queue.
  private func drain(_ dice: inout Dice) async {
    let (hub, members, read) = (DelegateHub(), (0..<4).map { _ in Member() }, Counter())
    for (index, member) in members.enumerated() {
      hub.subscribe(member, to: (any Passer).self, on: index == 0 ? world.queue : nil)
    }
    let count = 1 + dice.roll(16)
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<count {
            hub[(any Passer).self].notify { _ in
              await Task.yield()
              read.add()
            }
            await Task.yield()
          }
        }
      }
    }
    await hub.drain()
    world.violations.check(
      read.value == 8 * count * members.count, "ends: a drain returned before all was handled")
    withExtendedLifetime(members) {}
  }

  private func close(_ dice: inout Dice) async {
    let (events, last, pause) = (Events<Int>(replaying: 1), 1 + dice.roll(8), dice.roll(8))
    world.tally.count(.closed)
    @Sendable func visit(after pause: Int) async {
      for _ in 0..<pause { await Task.yield() }
      var heard: [Int] = []
      for await number in events.registry.stream() { heard.append(number) }
      world.violations.check(
        heard == Array((heard.first ?? 0)...last), "ends: a guest heard \(heard) up to \(last)")
      let next = await events.registry.next { $0 > last }
      world.violations.check(next == nil, "ends: closed events have brought another one")
    }
    await withDiscardingTaskGroup { group in
      for guest in 0..<4 { group.addTask { await visit(after: guest * pause) } }
      for number in 1...last {
        events.post(number)
        await Task.yield()
      }
      events.finish()
      events.post(last + 1)
    }
    let late = events.registry.observe { _ in }
    await events.hub.drain()
    world.violations.check(!late.isActive, "ends: a late guest of closed events stays")
  }

  func audit() {
    world.violations.check("ends, letters that nobody read", hub: lost.value, own: 0)
  }

  var sum: String {
    "\(rounds.value.short) hubs released amid \(posted.value.short) posts, \(lost.value) of them lost"
  }
}
