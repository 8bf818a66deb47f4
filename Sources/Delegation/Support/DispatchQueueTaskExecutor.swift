#if canImport(Dispatch)
  internal import Dispatch

  /// Runs handlers on a dispatch queue.
  ///
  /// It is not ``DispatchQueueExecutor``, because that one isolates its jobs to the queue, as an actor needs.
  /// A task would leave that isolation, and so the queue, at each call of a nonisolated function, and come
  /// back to it with one more job each time.
  ///
  /// Each queue has one as long as it is in use, so that the library sees that all subscribers on a queue
  /// share an executor.
  final class DispatchQueueTaskExecutor: TaskExecutor {
    let queue: DispatchQueue

    /// All executors, by their queues.
    ///
    /// An executor keeps its queue and removes its entry when it dies, so a key is never the address of
    /// another queue. A reference that is taken out under the lock is released outside of it, because it
    /// may be the last.
    private static let all = Lock<[ObjectIdentifier: Entry]>([:])

    /// An object: a dictionary of structs with weak references crashes in Swift 6.3.
    private final class Entry: Sendable {
      let reference: WeakReference

      init(_ executor: DispatchQueueTaskExecutor) {
        reference = WeakReference(executor, object: executor)
      }
    }

    /// The executor of a queue.
    static func shared(on queue: DispatchQueue) -> DispatchQueueTaskExecutor {
      let new = DispatchQueueTaskExecutor(queue)
      return all.withLock { entries in
        let present = entries[ObjectIdentifier(queue)]?.reference.load(
          as: DispatchQueueTaskExecutor.self)
        if let present { return present }
        entries[ObjectIdentifier(queue)] = Entry(new)
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
        // The entry may be of another executor: this one had begun to die, or was not needed.
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
#endif
