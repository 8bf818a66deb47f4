import Delegation

/// Whose executor is held up, and how.
struct HeldCase: Sendable, CustomStringConvertible {
  enum Owner { case caller, hub, subscriber }

  let owner: Owner
  let hold: Lane.Hold
  let caller: VisitorKind
  let hubHasOne: Bool
  let subscriberHasOne: Bool

  static let all: [HeldCase] = VisitorKind.allCases.flatMap { caller in
    Lane.Hold.allCases.flatMap { hold in
      [(false, false), (false, true), (true, false), (true, true)].flatMap { executors in
        let (hub, subscriber) = executors
        var owners: [Owner] = []
        // Nobody can suspend the main actor.
        if caller != .plain, caller != .mainActor || hold == .blocked { owners.append(.caller) }
        if hub { owners.append(.hub) }
        if subscriber { owners.append(.subscriber) }
        return owners.map {
          HeldCase(
            owner: $0, hold: hold, caller: caller, hubHasOne: hub, subscriberHasOne: subscriber)
        }
      }
    }
  }

  var description: String {
    "the \(owner)'s \(hold), called from \(caller), hub \(hubHasOne), subscriber \(subscriberHasOne)"
  }
}

/// A call that is made when an executor is held up.
enum HeldCall: CaseIterable {
  case notify, notifyAndWait, vote, collect, askInTurn, pass
  case notifyAndWaitInTime, voteInTime, collectInTime, askInTurnInTime, passInTime

  /// Whether it has a deadline, which it reaches.
  var isBounded: Bool {
    switch self {
    case .notifyAndWaitInTime, .voteInTime, .collectInTime, .askInTurnInTime, .passInTime: true
    default: false
    }
  }

  var isInTurn: Bool { [.askInTurn, .pass].contains(self) }
}

/// A hub, of whose subscribers one may have an executor that is held up, and all who want to get on.
final class HeldScene: Sendable {
  /// Those who get on while an executor is held up, or do not.
  enum Party: CaseIterable {
    /// The one who has made the call.
    case caller
    /// Others' questions and notifications to subscribers without an executor.
    case vote, notify
    /// Others' questions to the same subscribers, by a deadline.
    case deadline
    /// Others who count, look and ask for figures.
    case look
    /// Others who drain the hub, by a deadline.
    case drain
    /// All that has to do with another hub.
    case otherHub

    static let others = allCases.filter { $0 != .caller }
  }

  /// Short, as it is waited for.
  private static let within = Duration.milliseconds(10)

  let held: HeldCase
  let hub: DelegateHub
  let caller: Visitor
  /// What is held up.
  let lane: Lane
  /// Those who were called by the call.
  let called = Recorder<String>()
  let gotOn = Recorder<Party>()
  private let gate = Gate()
  private let otherHub = DelegateHub()
  private let others = [Visitor(.plain), Visitor(.preferring)]
  private let probes: [Probe]
  private let free = Probe.many(2)

  init(_ held: HeldCase) {
    self.held = held
    caller = Visitor(held.caller)
    let (hubs, own) = (Lane("hub's"), Lane("subscriber's"))
    lane =
      switch held.owner {
      case .caller: caller.lane ?? own
      case .hub: hubs
      case .subscriber: own
      }
    hub = DelegateHub(
      .init(
        executor: held.hubHasOne ? LaneTaskExecutor(hubs) : nil,
        onIncident: { _ in }))
    probes = ["before", "it", "apart", "after"].map { Probe($0) }
    for probe in probes {
      let executor: LaneTaskExecutor? =
        switch probe.name {
        case "it": held.subscriberHasOne ? LaneTaskExecutor(own) : nil
        case "apart": LaneTaskExecutor(Lane("apart"))
        default: nil
        }
      hub.subscribe(probe, to: Listener.self, on: executor)
    }
    for probe in free {
      hub.subscribe(probe, to: Bystander.self)
      otherHub.subscribe(probe, to: Bystander.self)
    }
  }

  /// Makes the call, and holds the executor up as soon as it has begun, or in the midst of a handler.
  func call(_ call: HeldCall, withinAHandler: Bool = false) async -> Task<Void, Never> {
    let isHeldHere = held.owner != .caller && !withinAHandler
    if isHeldHere { lane.hold(held.hold) }
    let task = caller.perform { [self] _ in
      if held.owner == .caller { lane.hold(held.hold) }
      await make(call, withinAHandler: withinAHandler)
      gotOn.record(.caller)
    }
    await lane.isHeld.arrivals()
    return task
  }

  /// Has others try to get on.
  func begin(_ party: Party) -> [Task<Void, Never>] {
    others.map { other in
      other.perform { [self] _ in
        await attempt(party)
        gotOn.record(party)
      }
    }
  }

  /// Lets those go on who wait for the scene's end.
  func end() async -> Bool {
    gate.open()
    return await hub.drain().isEmpty
  }

  nonisolated(nonsending) private func make(_ call: HeldCall, withinAHandler: Bool) async {
    let handle: nonisolated(nonsending) @Sendable (any Listener) async -> Bool = { [self] probe in
      // So that it reaches its deadline.
      if call.isBounded { await gate.pass() }
      if withinAHandler, probe.name == "it" {
        lane.hold(held.hold)
        await Task.yield()
      }
      called.record(probe.name)
      return true
    }
    switch call {
    case .notify: hub[Listener.self].notify() { _ = await handle($0) }
    case .notifyAndWait: await hub[Listener.self].notifyAndWait() { _ = await handle($0) }
    case .notifyAndWaitInTime:
      await hub[Listener.self].notifyAndWait(within: Self.within) { _ = await handle($0) }
    case .vote: _ = await hub[Listener.self].vote() { await handle($0) }
    case .voteInTime:
      _ = await hub[Listener.self].vote(within: Self.within, absent: .abstains) {
        await handle($0)
      }
    case .collect: _ = await hub[Listener.self].collect() { await handle($0) }
    case .collectInTime:
      _ = await hub[Listener.self].collect(within: Self.within) { await handle($0) }
    case .askInTurn: _ = await hub[Listener.self].askInTurn() { await handle($0) ? nil : 1 }
    case .askInTurnInTime:
      _ = await hub[Listener.self].askInTurn(within: Self.within, absent: .abstains) {
        await handle($0) ? nil : 1
      }
    case .pass: _ = await hub[Listener.self].pass(1) { await handle($0) ? $1 : nil }
    case .passInTime:
      _ = await hub[Listener.self].pass(1, within: Self.within, absent: .abstains) {
        await handle($0) ? $1 : nil
      }
    }
  }

  nonisolated(nonsending) private func attempt(_ party: Party) async {
    switch party {
    case .caller: break
    case .vote: _ = await hub[Bystander.self].vote() { _ in true }
    case .notify: await hub[Bystander.self].notifyAndWait() { _ in }
    case .deadline:
      _ = await hub[Listener.self].vote(
        by: .atLeast(5), within: Self.within, absent: .abstains
      ) { _ in true }
    case .look:
      _ = hub[Listener.self].count
      _ = hub[Bystander.self].subscribers
      _ = hub.statistics()
    case .drain: _ = await hub.drain(within: Self.within)
    case .otherHub:
      await otherHub[Bystander.self].notifyAndWait() { _ in }
      _ = await otherHub[Bystander.self].vote() { _ in true }
      await otherHub.drain()
    }
  }
}
