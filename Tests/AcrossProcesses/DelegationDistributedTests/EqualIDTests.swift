import DelegationDistributed
import DelegationTesting
import Distributed
import PipeCluster
import Testing

/// In each of these systems the first actor has the same id as the first one of another.
@Suite("Distributed actors with equal ids", .timeLimit(.minutes(10)))
struct EqualIDTests {
  private let executor = ManualExecutor()
  private let hub: DelegateHub

  init() {
    hub = DelegateHub(DelegateHub.Configuration(executor: executor))
  }

  /// An actor in a system of its own.
  private func concierge(_ name: String) -> (Concierge, Recorder<String>) {
    let entered = Recorder<String>()
    let concierge = Concierge(
      name, entered: entered, actorSystem: LocalTestingDistributedActorSystem())
    return (concierge, entered)
  }

  @Test("of two systems they are one subscriber, in the place of the first")
  func twoSystems() {
    let (first, heardByFirst) = concierge("first")
    let (second, heardBySecond) = concierge("second")
    #expect(first.id == second.id)
    let former = hub.subscribe(first, to: Gatekeeper.self)
    let latter = hub.subscribe(second, to: Gatekeeper.self)
    #expect([former.isActive, latter.isActive] == [false, true])
    hub[Gatekeeper.self].notify { try await $0.didEnter(1) }
    executor.run()
    #expect(heardByFirst.events == [])
    #expect(heardBySecond.events == ["second: 1"])
    withExtendedLifetime((first, second)) {}
  }

  @Test("a new one gets what waited for a dead one whose id it has")
  func afterDeath() {
    var (dead, heardByDead): (Concierge?, Recorder<String>) = concierge("dead")
    if let dead { hub.subscribe(dead, to: Gatekeeper.self) }
    hub[Gatekeeper.self].notify { try await $0.didEnter(1) }
    dead = nil
    let (living, heardByLiving) = concierge("living")
    hub.subscribe(living, to: Gatekeeper.self)
    hub[Gatekeeper.self].notify { try await $0.didEnter(2) }
    executor.run()
    #expect(heardByDead.events == [])
    #expect(heardByLiving.events == ["living: 1", "living: 2"])
    withExtendedLifetime(living) {}
  }
}

/// Writes down what it is told.
private distributed actor Concierge: Gatekeeper {
  typealias ActorSystem = LocalTestingDistributedActorSystem

  private let name: String
  private let entered: Recorder<String>

  init(_ name: String, entered: Recorder<String>, actorSystem: ActorSystem) {
    self.name = name
    self.entered = entered
    self.actorSystem = actorSystem
  }

  distributed func mayEnter(_ guest: String) async throws -> Bool { true }

  distributed func didEnter(_ number: Int) async throws { entered.record("\(name): \(number)") }
}
