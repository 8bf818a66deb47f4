/// Attended subscriptions that have executors of their own, in one batch for each executor.
///
/// A batch is served by one task, as long as its handlers do not suspend. A batch is sent off when it is
/// full; all are when there are many, or before the worker runs a handler itself, so that an attended
/// subscription does not wait for others.
struct ExecutorBatches {
  struct Batch {
    let executor: any TaskExecutor
    let place: ObjectIdentifier
    var nodes: [SubscriptionNode]

    /// Whether the executor's `enqueue` is known to return at once.
    var isPrompt: Bool {
      #if canImport(Dispatch)
        executor is DispatchQueueTaskExecutor
      #else
        false
      #endif
    }
  }

  /// A larger batch would keep an event loop or a queue from its other work for too long.
  static let largestBatch = 64
  /// With more batches it would take too long to find the one of an executor.
  static let mostBatches = 16

  private var batches: [Batch] = []

  var isEmpty: Bool { batches.isEmpty }

  /// Adds a subscription.
  ///
  /// - Returns: the batches that are to be sent off now.
  mutating func add(_ node: SubscriptionNode, on executor: any TaskExecutor) -> [Batch] {
    let place = place(of: executor)
    guard let index = batches.firstIndex(where: { $0.place == place }) else {
      let full = batches.count == Self.mostBatches ? takeAll() : []
      batches.append(Batch(executor: executor, place: place, nodes: [node]))
      return full
    }
    batches[index].nodes.append(node)
    return batches[index].nodes.count == Self.largestBatch ? [batches.remove(at: index)] : []
  }

  /// Takes out all batches.
  mutating func takeAll() -> [Batch] {
    defer { batches = [] }
    return batches
  }
}
