import Testing

@testable import Delegation

@Suite("Cursor: the subscriptions of one lane, given out one at a time")
struct CursorTests {
  private let subscribers = (0..<3).map { _ in Nobody() }
  private let nodes: [SubscriptionNode]

  init() {
    nodes = subscribers.map { Structures.node(of: $0) }
  }

  @Test("each position is given out once and in order, and who gets the last one releases the list")
  func claims() {
    var cursor = Cursor(nodes)
    for position in nodes.indices {
      #expect(cursor.unclaimed == 3 - position)
      let claim = cursor.claim()
      #expect(claim?.position == position)
      #expect(claim?.node === nodes[position])
      #expect(claim?.isLast == (position == 2))
    }
    #expect(cursor.claim() == nil)
    #expect(cursor.release().count == 3)
    #expect(cursor.nodes.isEmpty)
    #expect(cursor.unclaimed == 0)
    #expect(cursor.claim() == nil)
    var empty = Cursor([])
    #expect(empty.unclaimed == 0)
    #expect(empty.claim() == nil)
  }

  private struct Shared: Claimable {
    var cursor: Cursor
  }

  @Test("who claims the last one releases the list, also a worker that begins", arguments: 1...3)
  func releasedWithTheLast(count: Int) {
    let shared = Lock(Shared(cursor: Cursor(Array(nodes.prefix(count)))))
    #expect(shared.begin {}?.position == 0)
    for position in 1..<count { #expect(shared.claim()?.position == position) }
    #expect(shared.withLock { $0.cursor.nodes.isEmpty })
    #expect(shared.claim() == nil)
  }

  @Test("a list to which something was added after the last claim is kept")
  func keptForWhatWasAdded() {
    let shared = Lock(Shared(cursor: Cursor(nodes)))
    shared.withLock { state in
      while let claim = state.claim(), !claim.isLast {}
      state.cursor.append(nodes[0])
    }
    shared.releaseList()
    #expect(shared.claim()?.position == 3)
  }

  @Test("after a halt nothing is given out, and the list is the one's who halts", arguments: 0...3)
  func halts(claimed: Int) {
    var cursor = Cursor(nodes)
    for _ in 0..<claimed {
      if cursor.claim()?.isLast == true { _ = cursor.release() }
    }
    #expect(!cursor.isHalted)
    #expect(cursor.halt().count == (claimed == 3 ? 0 : 3))
    #expect(cursor.isHalted)
    #expect(cursor.unclaimed == 0)
    #expect(cursor.claim() == nil)
    #expect(cursor.halt().count == 0)
  }

  /// Where a subscription is that has not begun; `nil` if there is none.
  private func notBegun(_ cursor: Cursor) -> [Int?] {
    nodes.indices.map { position in
      cursor.notBegun(position).flatMap { node in nodes.firstIndex { $0 === node } }
    }
  }

  @Test("one that was sent elsewhere has not begun before it arrives there")
  func elsewhere() throws {
    var cursor = Cursor(nodes)
    #expect(notBegun(cursor) == [0, 1, 2])
    let first = try #require(claim(&cursor))
    #expect(notBegun(cursor) == [nil, 1, 2])
    cursor.send(first)
    #expect(notBegun(cursor) == [0, 1, 2])
    #expect(begin(&cursor))
    #expect(notBegun(cursor) == [nil, 1, 2])
  }

  @Test("one that arrives after a halt is not asked")
  func tooLate() throws {
    var cursor = Cursor(nodes)
    cursor.send(try #require(claim(&cursor)))
    _ = cursor.halt()
    #expect(!begin(&cursor))
  }

  @Test("it begins with a position that is not the first")
  func rest() {
    var cursor = Cursor(nodes, from: 2)
    #expect(cursor.unclaimed == 1)
    #expect(claim(&cursor)?.position == 2)
    #expect(claim(&cursor) == nil)
  }

  private func begin(_ cursor: inout Cursor) -> Bool { cursor.beginSent(0) }

  private func claim(_ cursor: inout Cursor) -> Cursor.Claim? { cursor.claim() }
}
