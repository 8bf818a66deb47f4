import Testing

@testable import Delegation

@Suite("ExecutorBatches: subscribers who share an executor set out together")
struct ExecutorBatchesTests {
  private let subscriber = Nobody()

  private func node() -> SubscriptionNode { Structures.node(of: subscriber) }

  @Test("those of one executor go together, in order, and are taken once")
  func together() throws {
    var batches = ExecutorBatches()
    let executors = [ManualExecutor(), ManualExecutor()]
    let nodes = (0..<4).map { _ in node() }
    for (index, node) in nodes.enumerated() {
      let full = batches.add(node, on: executors[index % 2]).count
      #expect(full == 0)
    }
    #expect(!batches.isEmpty)
    let taken = batches.takeAll()
    try #require(
      taken.map { ObjectIdentifier($0.executor) } == executors.map { ObjectIdentifier($0) })
    #expect(zip(taken[0].nodes, [nodes[0], nodes[2]]).allSatisfy { $0 === $1 })
    #expect(taken.map(\.nodes.count) == [2, 2])
    #expect(zip(taken[1].nodes, [nodes[1], nodes[3]]).allSatisfy { $0 === $1 })
    #expect(batches.isEmpty)
    let rest = batches.takeAll().count
    #expect(rest == 0)
  }

  @Test("a batch sets out when it is large, and all do when there are too many")
  func bounds() {
    var batches = ExecutorBatches()
    let first = ManualExecutor()
    var sizes: [Int] = []
    for _ in 0..<(2 * ExecutorBatches.largestBatch) {
      sizes += batches.add(node(), on: first).map(\.nodes.count)
    }
    #expect(sizes == [ExecutorBatches.largestBatch, ExecutorBatches.largestBatch])
    #expect(batches.isEmpty)
    let executors = (0..<ExecutorBatches.mostBatches).map { _ in ManualExecutor() }
    let early = executors.map { batches.add(node(), on: $0).count }
    #expect(early == Array(repeating: 0, count: ExecutorBatches.mostBatches))
    let full = batches.add(node(), on: first)
    #expect(full.count == ExecutorBatches.mostBatches)
    #expect(batches.takeAll().map { $0.executor === first } == [true])
  }
}
