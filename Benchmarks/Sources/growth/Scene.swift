import Delegation
import Synchronization

protocol Listener: AnyObject, Sendable {
  func mayPass() async -> Bool
  func didPass() async
  func objection() async -> Int?
}

/// Optional beside `Listener`.
protocol Narrower: AnyObject, Sendable {
  func didPass() async
}

/// What subscribers of other protocols conform to.
protocol Bystander: AnyObject, Sendable {
  func mayPass() async -> Bool
  func didPass() async
}

/// A protocol to which nobody subscribes.
protocol Unheard: AnyObject, Sendable {
  func didPass() async
}

/// The protocol by which a scene settles.
protocol Settler: AnyObject, Sendable {
  func settle() async
}

/// A subscriber that handles notifications only when its gate is open, if it has one.
final class Member: Listener, Narrower, Bystander, Settler {
  private let gate: Gate?

  init(at gate: Gate? = nil) {
    self.gate = gate
  }

  func mayPass() async -> Bool { true }

  func didPass() async { await gate?.pass() }
  func objection() async -> Int? { nil }
  func settle() async {}
}

/// Holds up tasks until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrived = 0
  }

  private let state = Mutex(State())

  /// How many have come to it.
  var arrived: Int { state.withLock { $0.arrived } }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrived += 1
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Lets all go on that have come or will come.
  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until that many have come.
  func waitForArrivals(_ count: Int) async {
    while arrived < count { await Task.yield() }
  }
}

/// A hub with one subscriber, and what operations are done with.
///
/// `@unchecked Sendable`: one task uses it.
final class Scene: @unchecked Sendable {
  let hub: DelegateHub
  let delegates: Delegates<any Listener>
  /// Subscribed to `Listener`, and served first.
  let member = Member()
  let subscription: DelegateHub.Subscription
  /// Not subscribed between operations.
  let visitor = Member()
  let successor = Member()
  /// The subscription that an operation is about.
  var current: DelegateHub.Subscription?
  /// Counts up where an operation needs something new each time.
  var number = 0
  /// A hub with a handler that waits for the rest of it.
  let other = DelegateHub()
  private let settler = Member()

  init() async {
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { _ in }
    hub = DelegateHub(configuration)
    delegates = hub.delegates((any Listener).self)
    subscription = hub.subscribe(member, to: (any Listener).self, priority: 10)
    subscribeSettler()
    other.subscribe(member, to: (any Listener).self)
    await settle()
  }

  func subscribeSettler() {
    hub.subscribe(settler, to: (any Settler).self)
  }

  /// Lets the hub apply what it was told, and its workers end.
  func settle() async {
    await hub.notifyAndWait((any Settler).self) { await $0.settle() }
    for _ in 0..<4 { await Task.yield() }
  }

  func end() async {
    await hub.drain()
  }
}

/// What a circumstance has made, until it ends.
///
/// `@unchecked Sendable`: one task uses it.
final class Scenery: @unchecked Sendable {
  var kept: [AnyObject] = []
  let gate = Gate()
  var hubs: [DelegateHub] = []
  var tasks: [Task<Void, Never>] = []

  func members(_ count: Int, at gate: Gate? = nil) -> [Member] {
    let members = (0..<count).map { _ in Member(at: gate) }
    kept += members
    return members
  }

  /// Starts that many tasks, and returns when all of them wait.
  func start(_ count: Int, _ work: @escaping @Sendable (Int) async -> Void) async {
    for number in 0..<count { tasks.append(Task { await work(number) }) }
    for _ in 0..<4 { await Task.yield() }
  }

  func end() async {
    gate.open()
    for task in tasks { await task.value }
    for hub in hubs { await hub.drain() }
    withExtendedLifetime(kept) {}
  }
}
