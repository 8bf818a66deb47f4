internal import Dispatch

/// Runs handlers on a dispatch queue.
///
/// Apart from ``DispatchQueueExecutor``, whose jobs are isolated to the queue as an actor's have to be: a
/// task would leave that isolation, and so the queue, at each call of a nonisolated function, and come
/// back to it, by one more job each time.
///
/// There is one for each queue as long as anybody needs it, so that the handlers of all who subscribe on
/// a queue are seen to run in the same place.
final class DispatchQueueTaskExecutor: TaskExecutor {
  let queue: DispatchQueue

  /// Those that there are, by their queues.
  ///
  /// An executor keeps its queue and removes its entry when it dies, so an address here is that of no
  /// other queue. A reference that is taken out under the lock is released outside of it, for it may be
  /// the last.
  private static let all = Lock<[ObjectIdentifier: SharedReference]>([:])

  /// The one for a queue.
  static func shared(on queue: DispatchQueue) -> DispatchQueueTaskExecutor {
    let new = DispatchQueueTaskExecutor(queue)
    return all.withLock { entries in
      let present = entries[ObjectIdentifier(queue)]?.reference.load(
        as: DispatchQueueTaskExecutor.self)
      if let present { return present }
      entries[ObjectIdentifier(queue)] = SharedReference(WeakReference(new, object: new))
      return new
    }
  }

  /// How many there are.
  ///
  /// For tests.
  static var count: Int { all.withLock { $0.count } }

  private init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  deinit {
    Self.all.withLock { entries in
      // Another one may have taken the place of one that had begun to die, or was never needed.
      if entries[ObjectIdentifier(queue)]?.reference.identity == ObjectIdentifier(self) {
        entries[ObjectIdentifier(queue)] = nil
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
