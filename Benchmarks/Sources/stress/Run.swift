import Delegation
import Foundation

/// One run of the program, from the first subscription to the accounts.
struct Run: Sendable {
  /// What everybody's behaviour is drawn from.
  let seed: UInt64
  /// How many tasks produce.
  let producers: Int
  /// When they end, and when they hold back.
  let limits: Limits
  /// How long there is between lines of progress; `nil` for none.
  let progress: Duration?

  /// How many notifications are posted at the end, when everybody is known.
  private static let calmEvents = 100

  /// Does it all.
  ///
  /// `@concurrent`, because each hop from the main thread would cost a thread switch.
  ///
  /// - Returns: what came of it.
  @concurrent
  func conduct() async -> Report {
    let world = World(seed: seed, producers: producers)
    let residents = Resident.settle(world)
    let start = ContinuousClock.now
    let reporter = progress.map { Reporter.start(world, every: $0) }
    let auditor = Audit.start(world, residents)
    var visits = await produce(in: world, residents)
    let producing = ContinuousClock.now - start
    await rest(world)
    auditor.cancel()
    reporter?.cancel()
    await auditor.value
    await reporter?.value

    let audit = Audit(world, residents)
    audit.checkResidents(await world.hub.statistics())
    await audit.checkCalm(visits, events: Self.calmEvents)
    await rest(world)
    audit.checkAll(await world.hub.statistics())
    for visit in visits { world.hub.unsubscribe(visit.subscriber) }
    visits = []
    await audit.checkDead()
    return Report(
      run: self, duration: producing, world: world, statistics: await world.hub.statistics())
  }

  /// Lets all producers go on until they have reached a limit, and gives the visitors they have left.
  private func produce(in world: World, _ residents: [Resident]) async -> [Visit] {
    await withTaskGroup { group in
      for index in 0..<producers {
        group.addTask {
          var producer = Producer(index, in: world, residents, limits)
          await producer.run()
          return producer.visits
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  private func rest(_ world: World) async {
    let leftovers = await world.hub.drain(within: .seconds(30))
    world.violations.check(leftovers.isEmpty, "the hub did not come to rest: \(leftovers)")
  }
}
