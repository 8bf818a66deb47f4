// This module's import is enough by itself.
import DelegationDistributed
import Distributed

nonisolated protocol Gatekeeper: AnyObject, Sendable {
  func mayPass(_ name: String) async throws -> Bool
}

distributed actor Doorman {
  typealias ActorSystem = LocalTestingDistributedActorSystem

  distributed func mayPass(_ name: String) -> Bool { name != "Mallory" }
}

// In an extension, as other actors.
extension Doorman: Gatekeeper {}

nonisolated func distributing() async {
  let system = LocalTestingDistributedActorSystem()
  let (first, second) = (Doorman(actorSystem: system), Doorman(actorSystem: system))
  let hub = DelegateHub()
  hub.subscribe(first, to: (any Gatekeeper).self)
  hub.subscribe(localOrRemote: second, to: (any Gatekeeper).self)
  let mayPass = await hub[(any Gatekeeper).self].vote(
    by: .atLeast(2), within: .seconds(60), absent: .counts(as: false)
  ) { try await $0.mayPass("Alice") }
  Checks.expect(mayPass, is: true)
  hub.unsubscribe(id: first.id)
  let count = hub[(any Gatekeeper).self].count
  Checks.expect(count, is: 1)
  withExtendedLifetime((first, second)) {}
}
