internal import Synchronization

/// What a hub's topics, deliveries and questions share.
///
/// The hub retains its core, and so does each delivery and question while it lasts. A delivery on the hub's executor
/// retains the hub as well: what was posted is delivered even if the user releases the hub. Topics refer to the core
/// weakly, so no subscription, no incident, and no task that a handler leaves behind keeps the user's configuration
/// alive.
///
/// `@unchecked Sendable`: `hub` is written once, before the hub is shared.
@usableFromInline
final class HubCore: @unchecked Sendable {
  weak var hub: (any Actor)?
  let topics = TopicTable()
  /// The executor of the hub's work and of handlers; `nil` for the default.
  let executor: (any TaskExecutor)?
  @usableFromInline
  let interception: Interception?
  /// Whether the hub has neither an executor nor interceptors, so that a plain loop may ask subscribers.
  @usableFromInline
  let mayAskInLoop: Bool
  /// Whether the handlers of notifications run within interceptors or with task-locals bound.
  let wraps: Bool
  /// The task-locals that notifications and incidents carry.
  let propagating: [TaskLocalPropagation]
  let deadlines: DeadlineQueue
  /// A number that no other hub ever has.
  let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue

  private static let numbers = Atomic<Int>(0)

  /// How many workers there are, from the request of each; callers that ask, and closures that delay a drain, count as
  /// workers.
  ///
  /// Invariant: while a notification is pending or a handler runs, the count is above zero. On a subscription's own
  /// executor, a delivery's subscription and a question's claim count in place of the workers, unless the subscription
  /// ends before its turn: so a blocked or suspended executor does not keep the count up.
  let workers = AwaitedCount()
  /// Where in the source the closures that delay a drain were begun, by the ``Worker`` of each.
  let delays = Lock<[ObjectIdentifier: SubscribeSite.Line]>([:])
  private let onIncident: @Sendable (DelegateHub.Incident) -> Void
  /// The incidents that wait for the task that calls `onIncident`; `nil` while that task does not run.
  private let incidents = Lock<[DelegateHub.Incident]?>(nil)

  /// How many incidents may wait; further ones are only counted, in the last that waits.
  static let mostIncidents = 256

  init(
    on executor: (any TaskExecutor)?, within interceptors: [any DelegateHub.Interceptor],
    propagating: [TaskLocalPropagation], by deadlines: DeadlineQueue,
    telling onIncident: @escaping @Sendable (DelegateHub.Incident) -> Void
  ) {
    self.executor = executor
    interception = Interception(interceptors, now: deadlines.now)
    mayAskInLoop = executor == nil && interception == nil
    wraps = interception != nil || !propagating.isEmpty
    (self.propagating, self.deadlines, self.onIncident) = (propagating, deadlines, onIncident)
  }

  @usableFromInline
  func countWorker() { workers.rise() }

  /// Counts a worker off, and resumes the tasks whose wait for the hub to become idle is over.
  ///
  /// Must not be called under a lock.
  @usableFromInline
  func uncountWorker() { workers.fall() }

  /// Queues an incident, and returns at once; one task, counted as a worker, calls `onIncident` until none is queued.
  ///
  /// Called in the task that found the fault: the incident gets the task-locals of this task, unless it has its own.
  func report(_ incident: DelegateHub.Incident) {
    var incident = incident
    if incident.context == nil { incident.context = propagating.map { $0.capture() } }
    if let start = incident.start { incident.duration = deadlines.now() - start }
    let isFirst = incidents.withLock { [incident] waiting in
      guard let count = waiting?.count else {
        waiting = [incident]
        return true
      }
      if count < Self.mostIncidents {
        waiting?.append(incident)
      } else {
        waiting?[count - 1].leftOut += 1
      }
      return false
    }
    guard isFirst else { return }
    countWorker()
    Task.startDetached(on: executor) {
      while let incident = self.nextIncident() {
        await (incident.context ?? []).bind { self.onIncident(incident) }
        // Yields: the executor may have other work, and each call of `onIncident` may cause another incident.
        await Task.yield()
      }
      self.uncountWorker()
    }
  }

  /// Takes the next incident, or notes that the task that takes incidents ends.
  private func nextIncident() -> DelegateHub.Incident? {
    incidents.withLock { waiting in
      if waiting?.isEmpty == false { return waiting?.removeFirst() }
      waiting = nil
      return nil
    }
  }
}
