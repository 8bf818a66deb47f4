public import NIOCore

/// Runs tasks on an event loop, for `on:`.
///
/// NIO has an executor for actors, `EventLoop.executor`, and none for tasks. A subscriber that belongs
/// to a channel subscribes with it, and its handlers run on the channel's event loop:
///
/// ```swift
/// hub.subscribe(
///   connection, to: ConnectionDelegate.self, on: EventLoopTaskExecutor(channel.eventLoop))
/// ```
public final class EventLoopTaskExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  /// Makes an executor for an event loop.
  ///
  /// - Parameter eventLoop: where everything runs.
  public init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// Runs a job on the event loop, after those that were enqueued before.
  ///
  /// - Parameter job: the job, from the Swift runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
