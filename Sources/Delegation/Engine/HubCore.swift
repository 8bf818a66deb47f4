internal import Synchronization

/// What a hub's topics, deliveries and questions share.
///
/// The hub keeps it, and so does each delivery and question as long as it lasts. A delivery keeps the hub as well: what
/// was posted is delivered even if the hub is released. Topics refer to it weakly, so neither a subscription nor an
/// incident keeps what the user gave; nor does a task that a handler leaves behind.
///
/// `@unchecked Sendable`: `hub` is written once, before the hub is shared.
@usableFromInline
final class HubCore: @unchecked Sendable {
  /// The hub, as long as it exists.
  weak var hub: (any Actor)?
  /// Who is subscribed, by protocol, and what they are told.
  let topics = TopicTable()
  /// The executor of the hub's work and of handlers; `nil` for the default.
  let executor: (any TaskExecutor)?
  /// Runs handlers within the interceptors, if there are any.
  @usableFromInline
  let interception: Interception?
  /// Whether a loop does all that handlers need, if they have no executors of their own.
  @usableFromInline
  let mayAskInPlace: Bool
  /// Whether the handlers of notifications are within interceptors or task-locals.
  let wraps: Bool
  /// The task-locals that notifications and incidents carry.
  let propagating: [TaskLocalPropagation]
  /// Sets the deadlines of calls.
  let deadlines: DeadlineQueue
  /// A number that no other hub ever has.
  let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue

  private static let numbers = Atomic<Int>(0)

  /// How many workers there are, including those that were requested and have not started.
  ///
  /// Invariant: while a notification is pending or a handler runs, at least one worker is counted. A worker
  /// is counted from the moment it is requested. A subscription that waits in the delivery of its own executor is
  /// counted in place of a worker there: it may be ended while the executor stands still. A question that is sent
  /// there stays counted until its subscription ends.
  let workers = AwaitedCount()
  /// How many of these are not workers but the user's own closures, which delay a drain.
  let delays = Atomic<Int>(0)
  private let onIncident: @Sendable (DelegateHub.Incident) -> Void
  /// What is left for the task that calls the hook; `nil` while there is no such task.
  private let incidents = Lock<[DelegateHub.Incident]?>(nil)

  /// How many incidents may wait; further ones are counted in the last of them.
  static let mostIncidents = 256

  init(
    on executor: (any TaskExecutor)?, within interceptors: [any DelegateHub.Interceptor],
    propagating: [TaskLocalPropagation], by deadlines: DeadlineQueue,
    telling onIncident: @escaping @Sendable (DelegateHub.Incident) -> Void
  ) {
    self.executor = executor
    interception = Interception(interceptors, now: deadlines.now)
    mayAskInPlace = executor == nil && interception == nil
    wraps = interception != nil || !propagating.isEmpty
    self.propagating = propagating
    self.deadlines = deadlines
    self.onIncident = onIncident
  }

  /// Counts a worker.
  @usableFromInline
  func begin() { workers.rise() }

  /// Counts a worker off, and resumes the tasks that wait for the hub to become idle.
  ///
  /// Must not be called under a lock.
  @usableFromInline
  func end() { workers.fall() }

  /// Takes an incident and returns at once; a task of its own, which is counted, calls the hook as long as there are any.
  ///
  /// In the task that has found it: the task-locals there are those of the call, unless the incident has its own.
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
    begin()
    Task.startDetached(on: executor) {
      while let incident = self.nextIncident() {
        await (incident.context ?? []).bind { self.onIncident(incident) }
        // The executor may have other work, and the hook may cause further incidents.
        await Task.yield()
      }
      self.end()
    }
  }

  /// Takes the next incident, or notes that the task ends.
  private func nextIncident() -> DelegateHub.Incident? {
    incidents.withLock { waiting in
      if waiting?.isEmpty == false { return waiting?.removeFirst() }
      waiting = nil
      return nil
    }
  }
}
