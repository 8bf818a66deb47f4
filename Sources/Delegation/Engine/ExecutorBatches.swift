/// Subscriptions that a worker attends and that are to be served elsewhere, by the executor that they share.
///
/// Those of one executor are served by one task, as far as their handlers do not suspend. A batch is
/// sent off when it is large, and all are when there are many or the worker has something else to do:
/// who is attended waits for no others.
struct ExecutorBatches {
  struct Batch {
    let executor: any TaskExecutor
    var nodes: [SubscriptionNode]
  }

  /// Beyond this an executor that is an event loop or a queue would be kept from its other work for long.
  static let largestBatch = 64
  /// Beyond this it would take long to find one's own.
  static let mostBatches = 16

  private var batches: [Batch] = []

  var isEmpty: Bool { batches.isEmpty }

  /// Adds a subscription.
  ///
  /// - Returns: those that are to be sent off now.
  mutating func add(_ node: SubscriptionNode, on executor: any TaskExecutor) -> [Batch] {
    guard let index = batches.firstIndex(where: { $0.executor === executor }) else {
      let full = batches.count == Self.mostBatches ? takeAll() : []
      batches.append(Batch(executor: executor, nodes: [node]))
      return full
    }
    batches[index].nodes.append(node)
    return batches[index].nodes.count == Self.largestBatch ? [batches.remove(at: index)] : []
  }

  /// Takes out all that have not been sent off.
  mutating func takeAll() -> [Batch] {
    defer { batches = [] }
    return batches
  }
}
