import Delegation

/// Who is told, and whose receipts are added up.
protocol Clerk: AnyObject, Sendable {
  func file(_ number: Int) async throws
}

/// Who is told at a pace, by posters with a window.
protocol Packer: AnyObject, Sendable {
  func pack(_ number: Int) async
}

/// Notifications that all are waited for: the sum of the outcomes is the hub's account, exactly; and windows, by which
/// at most so many wait anywhere.
final class Receipts: Part {
  static let name = "receipts"
  private static let leaving = 5

  private final class Member: Clerk, Packer {
    let packed = Counter()
    private let life: Life

    init(_ world: World) { life = Life(in: world) }

    func file(_ number: Int) async throws {
      if number % 3 == 0 { await Task.yield() }
      if number % 7 == 0 { throw Refusal() }
    }

    func pack(_ number: Int) async {
      if number % 3 == 0 { await Task.yield() }
      packed.add()
    }
  }

  private let world: World
  private let resident: Member
  private let posted = Counter()
  private let (addressed, handled, failed, missed) = (Counter(), Counter(), Counter(), Counter())
  private let wanted = Counter()

  private var clerks: Delegates<any Clerk> { world.hub[(any Clerk).self] }
  private var packers: Delegates<any Packer> { world.hub[(any Packer).self] }

  init(in world: World) {
    self.world = world
    resident = Member(world)
    clerks.registry.subscribe(resident)
    packers.registry.subscribe(resident, priority: -1)
  }

  func run() async {
    await world.act(Self.name) { [self] index, dice in
      var member = Member(world)
      var subscription = clerks.registry.subscribe(member)
      while world.limits.take() {
        switch dice.roll(16) {
        case 0..<6: await file(dice.roll(1000))
        case 6..<10: await pack(dice.roll(1000))
        case 10:
          // Dies with all that waits for it.
          member = Member(world)
          world.tally.count(.death)
          subscription = subscribe(member, &dice)
        case 11:
          subscription.cancel()
          world.tally.count(.cancel)
        case 12: subscription = subscribe(member, &dice)
        case 13:
          // The same id as other tasks have: they take over from each other.
          let former = member
          member = Member(world)
          subscription = clerks.registry.subscribe(member, id: dice.roll(3))
          world.tally.count(.takeOver)
          withExtendedLifetime(former) {}
        case 14:
          subscription.finish()
          world.tally.count(.finish)
        default: await Task.yield()
        }
      }
      clerks.registry.unsubscribe(member)
    }
  }

  private func subscribe(_ member: Member, _ dice: inout Dice) -> DelegateHub.Subscription {
    clerks.registry.subscribe(
      member, priority: dice.roll(3), mailbox: dice.hits(2) ? .dropOldest(limit: 2) : .unbounded)
  }

  private func file(_ number: Int) async {
    posted.add()
    world.tally.count(.notifyAndWait)
    let outcome = await clerks.notifyAndWait { try await $0.file(number) }
    addressed.add(outcome.addressed)
    handled.add(outcome.handled)
    failed.add(outcome.failed)
    missed.add(outcome.missed)
    world.violations.check(
      outcome.addressed > 0 && outcome.left.isEmpty
        && outcome.addressed == outcome.handled + outcome.failed + outcome.missed,
      "a receipt does not add up: \(outcome)")
  }

  private func pack(_ number: Int) async {
    wanted.add()
    world.tally.count(.window)
    await packers.notifyAndWait(leaving: Self.leaving) { await $0.pack(number) }
    // In this order: what is packed meanwhile can only make less of it.
    let begun = wanted.value
    let waiting = begun - resident.packed.value
    world.violations.check(
      waiting <= Self.leaving + world.tasks,
      "more wait than a window of \(Self.leaving) and \(world.tasks) posters allow")
  }

  func audit() {
    guard let statistics = clerks.statistics else { return }
    let counts = statistics.counts
    let violations = world.violations
    violations.check("receipts, posted", hub: statistics.posted, own: posted.value)
    violations.check("receipts, addressed", hub: statistics.addressed, own: addressed.value)
    violations.check("receipts, handled", hub: counts.handled, own: handled.value)
    violations.check("receipts, failed", hub: counts.failed, own: failed.value)
    violations.check(
      "receipts, missed",
      hub: counts.expired + counts.dropped + counts.cancelled + counts.passedOver,
      own: missed.value)
    violations.check("receipts, packed", hub: resident.packed.value, own: wanted.value)
    world.hub.unsubscribe(resident)
  }

  var sum: String {
    "\(addressed.value.short) addressed = \(handled.value.short) handled + "
      + "\(failed.value.short) failed + \(missed.value.short) missed, as the outcomes say; "
      + "\(wanted.value.short) with a window"
  }
}
