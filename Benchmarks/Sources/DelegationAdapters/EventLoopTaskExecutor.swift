public import NIOCore
import Synchronization

/// Runs tasks on an event loop, for `on:`.
///
/// NIO has an executor for actors, `EventLoop.executor`, and none for tasks. A subscriber that belongs
/// to a channel subscribes with that of the channel's loop, and its handlers run there:
///
/// ```swift
/// hub.subscribe(
///   connection, to: ConnectionDelegate.self, on: EventLoopTaskExecutor.of(channel.eventLoop))
/// ```
///
/// There is one for each event loop: a hub serves those who share an executor together.
///
/// An event loop does not look at its sockets as long as there is something to run on it, which under
/// load other threads see to. So this one looks at the clock after each job, and every few milliseconds
/// holds the rest back until the loop has looked. One job is not interrupted: a hub hands over many
/// notifications in one, so a handler that is called often and does not suspend by itself calls
/// ``giveWay()``.
///
/// The loop looks only when nothing at all is left to run on it. This executor waits until other work
/// has left the loop, for 5 milliseconds at most. So beside much other work, or on a busy machine, a look
/// may still be missed many times in a row: with work of others for 30 % of the time, on two cores that
/// had more to run than they could, an echo took up to 1.8 seconds.
///
/// The event loop has to outlive those who run on it. Once it is shut down it runs nothing any more, and
/// whatever waits for its subscribers, such as a hub's `drain()`, waits for ever.
public final class EventLoopTaskExecutor: TaskExecutor {
  private struct State {
    /// What waits to be run and has been held back once; all of it came before `jobs`.
    var rest: ArraySlice<UnownedJob> = []
    /// What else waits to be run, in the order in which it came.
    var jobs: [UnownedJob] = []
    /// Whether the loop has been asked to run what waits, or is running it; so it is whenever
    /// anything waits.
    var isAsked = false
    /// When the last of it was run.
    var lastRun = NIODeadline.uptimeNanoseconds(0)
    /// When the loop has to look at its sockets.
    var turnEnd = NIODeadline.uptimeNanoseconds(0)

    /// Takes out some of what waits, the oldest first.
    mutating func take() -> ArraySlice<UnownedJob> {
      if !rest.isEmpty {
        defer { rest = [] }
        return rest
      }
      defer { jobs = [] }
      return jobs[...]
    }
  }

  private struct Entry {
    weak var executor: EventLoopTaskExecutor?
  }

  private let eventLoop: any EventLoop
  private let state = Mutex(State())

  private static let all = Mutex<[ObjectIdentifier: Entry]>([:])
  /// How long the loop may go without a look at its sockets.
  private static let turn = TimeAmount.milliseconds(5)
  /// How long it gets to look: anything but nothing.
  private static let pause = TimeAmount.microseconds(50)

  private init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// The executor of an event loop.
  ///
  /// - Parameter eventLoop: where everything runs.
  /// - Returns: the same one each time, as long as anybody uses it.
  public static func of(_ eventLoop: any EventLoop) -> EventLoopTaskExecutor {
    all.withLock { all in
      let key = ObjectIdentifier(eventLoop)
      // It keeps its loop, so there is no other loop at the address as long as it lives.
      if let executor = all[key]?.executor { return executor }
      let executor = EventLoopTaskExecutor(eventLoop)
      all[key] = Entry(executor: executor)
      return executor
    }
  }

  /// Runs a job on the event loop, after those that were enqueued before.
  ///
  /// - Parameter job: the job, from the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isLookDue = state.withLock { state -> Bool? in
      state.jobs.append(job)
      guard !state.isAsked else { return nil }
      state.isAsked = true
      let now = NIODeadline.now()
      // After so long a rest the loop has looked.
      if now - state.lastRun > Self.turn { state.turnEnd = now + Self.turn }
      return now >= state.turnEnd
    }
    if let isLookDue { ask(lookingFirst: isLookDue) }
  }

  /// Lets the event loop look at its sockets, if it has not for a while.
  ///
  /// For handlers that are called often and do not suspend: those of many notifications run in one job,
  /// which keeps the loop until it is done. When this returns the loop has looked, or it was not time for
  /// it yet; elsewhere than on the event loop it returns at once.
  ///
  /// **Order.** The caller may be suspended. Those that wait behind it on this executor may go on before.
  public nonisolated(nonsending) func giveWay() async {
    guard eventLoop.inEventLoop else { return }
    // What runs on the loop by other ways has no turn here that could end.
    let isLookDue = state.withLock { $0.isAsked && NIODeadline.now() >= $0.turnEnd }
    if isLookDue { await Task.yield() }
  }

  /// Asks the loop to run what waits.
  private func ask(lookingFirst isLookDue: Bool) {
    eventLoop.execute {
      if isLookDue {
        // From here, for what was written is flushed before this: once that is done there is nothing
        // to run for a moment.
        self.pause(until: NIODeadline.now() + Self.turn)
      } else {
        self.run(afterLook: false)
      }
    }
  }

  /// Runs what waits once the loop has looked at its sockets.
  ///
  /// If the pause ends late, other work has probably filled it: then the loop has gone on without a look,
  /// and gets another pause, for no longer than a turn in all.
  private func pause(until limit: NIODeadline) {
    let end = NIODeadline.now() + Self.pause
    eventLoop.scheduleTask(deadline: end) {
      let now = NIODeadline.now()
      if now < limit, now - end > Self.pause {
        self.pause(until: limit)
      } else {
        self.run(afterLook: true)
      }
    }
  }

  /// Runs what waits, until the loop has to look at its sockets.
  private func run(afterLook hasLooked: Bool) {
    var (jobs, turnEnd) = state.withLock { state in
      if hasLooked { state.turnEnd = NIODeadline.now() + Self.turn }
      return (state.take(), state.turnEnd)
    }
    while let job = jobs.popFirst() {
      job.runSynchronously(on: asUnownedTaskExecutor())
      if NIODeadline.now() >= turnEnd { break }
    }
    let isLookDue = state.withLock { state -> Bool? in
      let now = NIODeadline.now()
      state.lastRun = now
      // Nobody else has put anything there, for nobody else runs this meanwhile.
      if !jobs.isEmpty { state.rest = jobs }
      state.isAsked = !state.rest.isEmpty || !state.jobs.isEmpty
      return state.isAsked ? now >= state.turnEnd : nil
    }
    if let isLookDue { ask(lookingFirst: isLookDue) }
  }
}
