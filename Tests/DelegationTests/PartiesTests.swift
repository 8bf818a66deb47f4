import Testing

@testable import Delegation

@Suite("Parties: subscribers who share an executor set out together")
struct PartiesTests {
  private let subscriber = Nobody()

  private func node() -> SubscriptionNode { Structures.node(of: subscriber) }

  @Test("those of one executor go together, in order, and are taken once")
  func together() {
    var parties = Parties()
    let executors = [ManualExecutor(), ManualExecutor()]
    let nodes = (0..<4).map { _ in node() }
    for (index, node) in nodes.enumerated() {
      let full = parties.add(node, on: executors[index % 2]).count
      #expect(full == 0)
    }
    #expect(!parties.isEmpty)
    let taken = parties.takeAll()
    #expect(taken.map { ObjectIdentifier($0.executor) } == executors.map { ObjectIdentifier($0) })
    #expect(zip(taken[0].nodes, [nodes[0], nodes[2]]).allSatisfy { $0 === $1 })
    #expect(taken.map(\.nodes.count) == [2, 2])
    #expect(zip(taken[1].nodes, [nodes[1], nodes[3]]).allSatisfy { $0 === $1 })
    #expect(parties.isEmpty)
    let rest = parties.takeAll().count
    #expect(rest == 0)
  }

  @Test("a party sets out when it is large, and all do when there are too many")
  func bounds() {
    var parties = Parties()
    let first = ManualExecutor()
    var sizes: [Int] = []
    for _ in 0..<(2 * Parties.largestParty) {
      sizes += parties.add(node(), on: first).map(\.nodes.count)
    }
    #expect(sizes == [Parties.largestParty, Parties.largestParty])
    #expect(parties.isEmpty)
    let executors = (0..<Parties.mostParties).map { _ in ManualExecutor() }
    let early = executors.map { parties.add(node(), on: $0).count }
    #expect(early == Array(repeating: 0, count: Parties.mostParties))
    let full = parties.add(node(), on: first)
    #expect(full.count == Parties.mostParties)
    #expect(parties.takeAll().map { $0.executor === first } == [true])
  }
}
