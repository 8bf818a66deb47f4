internal import Synchronization

extension FanOut {
  /// Asks the subscriber at a position and those claimed after it, in the worker's place.
  ///
  /// The part of a worker that runs for every subscriber: inlined into the question, with the closures
  /// given to it, for each level of asynchronous calls costs as much as the weak load itself.
  ///
  /// - Parameters:
  ///   - first: the position to begin with.
  ///   - worker: who asks, within the context of its first call.
  ///   - isSingle: whether to ask only the first.
  ///   - ask: asks one subscriber.
  ///   - report: takes the result, when the handler is over.
  /// - Returns: a position that is claimed and has an executor of its own, or `nil` when done.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func run<Result>(
    from first: Int, as worker: Worker, only isSingle: Bool,
    asking ask: nonisolated(nonsending) (SubscriptionNode) async -> Result,
    report: (Result, Int) -> Void
  ) async -> Int? {
    var position = first
    while true {
      let node = nodes[position]
      let watch = slowWatch?.begin(node, in: call)
      let number = worker.begin(at: position)
      let result: Result
      if number == 1 {
        result = await ask(node)
      } else {
        // A task that an earlier handler left behind must not pass for a part of this one.
        let context = HandlerContext(worker: worker, call: number)
        result = await HandlerContext.binding.withValue(context) { await ask(node) }
      }
      worker.end()
      if let watch { slowWatch?.end(watch) }
      report(result, position)
      guard !isSingle, let next = claim() else { return nil }
      if nodes[next].isElsewhere { return next }
      position = next
    }
  }

  /// Does one worker's part of a question, elsewhere as well as in place.
  func ask(_ question: @escaping Question, from first: Int, staying: Bool) async {
    await enlisted(cancellable: !staying) { worker in
      var next: Int? = first
      while let position = next {
        if let executor = nodes[position].executor {
          await ask(question, at: position, as: worker, on: executor, staying: staying)
          next = claim()
        } else {
          next = await question(self, worker, position, false)
        }
      }
    }
  }

  /// Asks on the subscription's own executor, in a task of its own unless the worker is to stay.
  nonisolated(nonsending) private func ask(
    _ question: @escaping Question, at position: Int, as worker: Worker,
    on executor: any TaskExecutor, staying: Bool
  ) async {
    if staying {
      _ = await withTaskExecutorPreference(executor) {
        // A preference by itself moves nothing before the next suspension.
        await Task.yield()
        return await question(self, worker, position, true)
      }
      // Nor does its end, and the next subscriber may have no executor of its own.
      await Task.yield()
    } else {
      summon(on: executor) {
        // The executor may have taken its time.
        if !self.isHalted {
          await self.enlisted(cancellable: true) { worker in
            _ = await question(self, worker, position, true)
          }
        }
        self.hub.inbox.workerEnded()
      }
    }
  }

  /// Does a worker's part of a question, within the context of the worker's first call.
  ///
  /// - Parameters:
  ///   - cancellable: whether the task is one of the running tasks's, rather than the caller's own.
  ///   - body: its part.
  private func enlisted(cancellable: Bool, _ body: (Worker) async -> Void) async {
    let worker = makeWorker()
    let context = HandlerContext(worker: worker, call: 1)
    guard cancellable else {
      return await HandlerContext.binding.withValue(context) { await body(worker) }
    }
    await withUnsafeCurrentTask { task in
      let place = task.map { runningTasks.join(RunningTasks.Member(task: $0)) }
      await HandlerContext.binding.withValue(context) { await body(worker) }
      if let place { await runningTasks.leave(place) }
    }
  }
}
