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
/// load other threads see to. So this one holds its tasks back every few milliseconds, until the loop
/// has run out of them and has looked.
public final class EventLoopTaskExecutor: TaskExecutor {
  private struct State {
    /// What waits to be run.
    var jobs: [UnownedJob] = []
    /// Whether the loop has been asked to run it.
    var isAsked = false
    /// When the last of it was run.
    var lastRun = NIODeadline.uptimeNanoseconds(0)
    /// When the loop has to look at its sockets.
    var turnEnd = NIODeadline.uptimeNanoseconds(0)

    /// Whether the loop has to look at them now; if so, the next turn begins.
    mutating func takeLook(_ now: NIODeadline) -> Bool {
      guard now >= turnEnd else { return false }
      turnEnd = now + EventLoopTaskExecutor.turn
      return true
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
      return state.takeLook(now)
    }
    if let isLookDue { ask(lookingFirst: isLookDue) }
  }

  /// Asks the loop to run what waits.
  private func ask(lookingFirst isLookDue: Bool) {
    eventLoop.execute {
      if isLookDue {
        // From here, for what was written is flushed before this: once that is done there is nothing
        // to run for a moment.
        self.eventLoop.scheduleTask(in: Self.pause) { self.run() }
      } else {
        self.run()
      }
    }
  }

  private func run() {
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    let isLookDue = state.withLock { state -> Bool? in
      let now = NIODeadline.now()
      state.lastRun = now
      state.isAsked = !state.jobs.isEmpty
      return state.isAsked ? state.takeLook(now) : nil
    }
    if let isLookDue { ask(lookingFirst: isLookDue) }
  }
}
