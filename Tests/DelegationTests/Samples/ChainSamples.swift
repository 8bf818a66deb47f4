import Delegation
import Synchronization
import Testing

@Suite("Samples of a chain that fails closed", .inTurn)
struct ChainSamples {
  protocol TokenProvider: AnyObject, Sendable {
    /// Whose token it is; `nil` if it does not know the token.
    func user(for token: String) async throws -> String?
  }

  private final class Provider: TokenProvider {
    let find: @Sendable (String) async throws -> String?

    init(_ find: @escaping @Sendable (String) async throws -> String?) { self.find = find }

    func user(for token: String) async throws -> String? { try await find(token) }
  }

  // sample: Nobody knows, or somebody is down
  enum Finding: Equatable {
    case user(String)
    case nobodyKnows
    case unavailable
  }

  func find(_ token: String, in hub: DelegateHub) async -> Finding {
    let providers = await hub.subscriberCount(of: TokenProvider.self)
    let ignorant = Atomic(0)
    let user = await hub.askInTurn(
      TokenProvider.self, eachWithin: .milliseconds(100), absent: .abstains
    ) { provider in
      let user = try await provider.user(for: token)
      if user == nil { ignorant.add(1, ordering: .relaxed) }
      return user
    }
    if let user { return .user(user) }
    // Nobody knows the token only if there are providers, and each of them has said so.
    return providers > 0 && ignorant.load(ordering: .relaxed) >= providers
      ? .nobodyKnows : .unavailable
  }
  // end of sample

  /// What is wrong with the first of two providers.
  enum Fault: CaseIterable {
    case none, throwsAnError, hangs, executorStandsStill, hasDied
  }

  @Test(
    "a provider that is down keeps nobody from being asked, and is told from one that does not know",
    arguments: Fault.allCases)
  func faults(fault: Fault) async {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let (gate, still) = (Gate(), ManualExecutor())
    let first = Provider { _ in
      switch fault {
      case .throwsAnError: throw Refusal()
      case .hangs: await gate.pass()
      default: break
      }
      return nil
    }
    let second = Provider { token in token == "2" ? "Bob" : nil }
    if fault == .hasDied {
      hub.subscribe(Provider { _ in "nobody" }, to: TokenProvider.self)
    } else {
      hub.subscribe(
        first, to: TokenProvider.self, on: fault == .executorStandsStill ? still : nil)
    }
    hub.subscribe(second, to: TokenProvider.self)
    // A machine that is busy for 100 ms must not decide this test.
    func find(_ token: String, expecting finding: Finding) async -> Finding {
      var found = await self.find(token, in: hub)
      for _ in 0..<100 where found != finding { found = await self.find(token, in: hub) }
      return found
    }
    #expect(await find("2", expecting: .user("Bob")) == .user("Bob"))
    // One that has died is no provider.
    let isDown = fault != .none && fault != .hasDied
    let expected: Finding = isDown ? .unavailable : .nobodyKnows
    #expect(await find("3", expecting: expected) == expected)
    hub.unsubscribeAll(from: TokenProvider.self)
    #expect(await self.find("2", in: hub) == .unavailable)
    gate.open()
    still.run()
    await hub.drain()
  }
}
