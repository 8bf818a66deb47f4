import Delegation
import Foundation
import Synchronization

/// Hubs that are released while others post and cancel: what was posted is delivered, loops get the rest, and nothing of
/// the callers' stays behind or is released under a lock.
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
    private let (world, lost): (World, Counter)

    init(_ world: World, _ lost: Counter) {
      (self.world, self.lost) = (world, lost)
      world.alive.add()
    }

    deinit {
      if !isRead.load(ordering: .acquiring) { lost.add() }
      world.alive.add(-1)
    }
  }

  /// Looks at the hub when it is released, which would hang under the hub's lock.
  private final class LookingID: Hashable, Sendable {
    private let hub: DelegateHub
    private let released: Counter

    init(_ hub: DelegateHub, _ released: Counter) { (self.hub, self.released) = (hub, released) }

    deinit {
      _ = hub[(any Reader).self].count
      released.add()
    }

    static func == (one: LookingID, other: LookingID) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  private let world: World
  private let (rounds, posted, lost) = (Counter(), Counter(), Counter())

  init(in world: World) { self.world = world }

  func run() async {
    await world.act(Self.name, max(1, world.tasks / 4)) { [self] _, dice in
      repeat {
        await releaseAmidPosts(&dice)
        await releaseStream()
        await replaceIDs()
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
    let (isDone, end) = AsyncStream.makeStream(of: Void.self)
    let pause = Double(dice.roll(20)) / 1_000_000
    let thread = Thread {
      Thread.sleep(forTimeInterval: pause)
      for subscription in subscriptions { subscription.cancel() }
      end.finish()
    }
    thread.start()
    var letters: [Trace] = []
    for _ in 0..<3 {
      let letter = Letter(world, lost)
      letters.append(Trace(letter: letter))
      posted.add()
      _ = world.limits.take()
      owner.withLock { $0 }?[(any Reader).self].notify { $0.read(letter) }
    }
    _ = owner.withLock { $0.take() }
    for await _ in isDone {}
    // Nobody can drain a hub that is gone: the letters say when they have been read, or never will be.
    for _ in 0..<2000 where letters.contains(where: { $0.letter != nil }) {
      try? await Task.sleep(for: .microseconds(100))
    }
    withExtendedLifetime((members, witness)) {}
  }

  private struct Trace {
    weak var letter: Letter?
  }

  /// What was posted before is still given out, and then the loop ends.
  private func releaseStream() async {
    var events: Events<Int>? = Events<Int>()
    let stream = events!.registry.stream()
    for number in 0..<3 { events!.post(number) }
    events = nil
    var found: [Int] = []
    for await number in stream { found.append(number) }
    world.violations.check(
      found == [0, 1, 2], "ends: a stream whose hub was released gave out \(found)")
  }

  /// Ids are released outside of the locks, however they are replaced and ended.
  private func replaceIDs() async {
    let (hub, released) = (DelegateHub(.init(onIncident: { _ in })), Counter())
    let members = [Member(), Member()]
    await withTaskGroup { group in
      for index in 0..<4 {
        group.addTask {
          for number in 0..<3 {
            let subscription = hub.subscribe(
              members[index % 2], to: (any Reader).self, id: LookingID(hub, released),
              hold: number == 1 ? .strongly : nil, mailbox: number == 2 ? .latest : nil)
            if index == 0 { subscription.cancel() }
          }
        }
      }
    }
    hub[(any Reader).self].registry.unsubscribeAll()
    await hub.drain()
    world.violations.check("ends, ids that were released", hub: released.value, own: 12)
  }

  func audit() async -> String {
    world.violations.check("ends, letters that nobody read", hub: lost.value, own: 0)
    return
      "\(rounds.value.short) hubs released amid \(posted.value.short) posts, \(lost.value) of them lost"
  }
}
