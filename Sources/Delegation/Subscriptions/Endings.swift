/// The subscriptions of a protocol that have ended and are not yet accounted for, and the sums of those that are.
///
/// Invariant: each subscription is open, is here, or is in the sums. One is removed by the thread that finds that nothing
/// of it runs any more: who ended it, or who ends its last handler. The subscription's `state` word orders the two: either
/// the first finds it busy, or the second finds it terminated.
struct Endings: Sendable {
  /// By the subscriber's address, which several have if all but the last of their subscribers have died.
  private var byAddress = Shards<[SubscriptionNode]>()
  /// The sums of what became of the notifications and questions of those that are not here any more.
  private(set) var counts = Account()
  private(set) var questions = QuestionAccount()

  /// Adds a subscription that is terminated in the same section.
  mutating func add(_ node: SubscriptionNode) {
    byAddress[node.address] = nodes(at: node.address) + [node]
  }

  /// The subscriptions at an address that are here.
  func nodes(at address: Int) -> [SubscriptionNode] { byAddress[address] ?? [] }

  /// All subscriptions that are here, in unspecified order.
  var nodes: [SubscriptionNode] { byAddress.values.flatMap(\.self) }

  /// Adds the account of one of which nothing runs any more to the sums, once.
  mutating func finish(
    _ node: SubscriptionNode, with account: (counts: Account, questions: QuestionAccount)
  ) {
    let rest = nodes(at: node.address).filter { $0 !== node }
    guard rest.count < nodes(at: node.address).count else { return }
    byAddress[node.address] = rest.isEmpty ? nil : rest
    counts += account.counts
    questions += account.questions
  }
}
