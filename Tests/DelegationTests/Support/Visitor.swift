@testable import Delegation

/// From where a hub is called.
enum VisitorKind: CaseIterable {
  /// A task without preference.
  case plain
  /// A task that prefers an executor.
  case preferring
  /// An actor with an executor of its own.
  case actor
  case mainActor
  /// A handler of another hub, on its subscriber's own executor.
  case handler
}

/// A caller of some kind, and the lane that it runs on.
struct Visitor: Sendable {
  private actor Resident {
    private let executor: LaneSerialExecutor

    init(on lane: Lane) {
      executor = LaneSerialExecutor(lane)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func perform(_ body: @Sendable (isolated (any Actor)?) async -> Void) async {
      await body(self)
    }
  }

  let kind: VisitorKind
  /// Where it runs; `nil` if that is the pool.
  let lane: Lane?
  private let resident: Resident?
  private let hub = DelegateHub()
  private let probe = Probe("caller")

  init(_ kind: VisitorKind) {
    self.kind = kind
    switch kind {
    case .plain: lane = nil
    case .mainActor: lane = .main()
    default: lane = Lane("caller's")
    }
    resident = if kind == .actor, let lane { Resident(on: lane) } else { nil }
    if kind == .handler { hub.subscribe(probe, to: Listener.self, on: lane) }
  }

  /// Does something there.
  ///
  /// The isolation is passed by hand: a closure that is `nonisolated(nonsending)` and captures `self`
  /// is run elsewhere by the compiler of 6.3.
  func perform(
    _ body: @escaping @Sendable (isolated (any Actor)?) async -> Void
  ) -> Task<Void, Never> {
    switch kind {
    case .plain: Task { await body(nil) }
    case .preferring: Task(executorPreference: lane) { await body(nil) }
    case .actor: Task { await resident?.perform(body) }
    case .mainActor: Task { @MainActor in await body(MainActor.shared) }
    case .handler: Task { await hub[Listener.self].notifyAndWait() { _ in await body(nil) } }
    }
  }
}
