/// Subscriptions that a worker attends and that are to be served elsewhere, by the executor that they share.
///
/// Those of one executor are served by one task, as far as their handlers do not suspend. A party is
/// sent off when it is large, and all are when there are many or the worker has something else to do:
/// who is attended waits for no others.
struct Parties {
  struct Party {
    let executor: any TaskExecutor
    var nodes: [SubscriptionNode]
  }

  /// Beyond this an executor that is an event loop or a queue would be kept from its other work for long.
  static let largestParty = 64
  /// Beyond this it would take long to find one's own.
  static let mostParties = 16

  private var parties: [Party] = []

  var isEmpty: Bool { parties.isEmpty }

  /// Adds a subscription.
  ///
  /// - Returns: those that are to be sent off now.
  mutating func add(_ node: SubscriptionNode, on executor: any TaskExecutor) -> [Party] {
    guard let index = parties.firstIndex(where: { $0.executor === executor }) else {
      let full = parties.count == Self.mostParties ? takeAll() : []
      parties.append(Party(executor: executor, nodes: [node]))
      return full
    }
    parties[index].nodes.append(node)
    return parties[index].nodes.count == Self.largestParty ? [parties.remove(at: index)] : []
  }

  /// Takes out all that have not been sent off.
  mutating func takeAll() -> [Party] {
    defer { parties = [] }
    return parties
  }
}
