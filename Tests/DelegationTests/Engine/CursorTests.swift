import Testing

@testable import Delegation

@Suite("Cursor: the subscriptions of one fan-out, given out one at a time")
struct CursorTests {
  private let subscribers = (0..<3).map { _ in Nobody() }
  private let nodes: [SubscriptionNode]

  init() {
    nodes = subscribers.map { Structures.node(of: $0) }
  }

  private func claim(_ cursor: inout Cursor) -> Cursor.Claim? { cursor.claim() }

  /// Where a subscription is that has not begun; `nil` if there is none.
  private func notBegun(_ cursor: Cursor) -> [Int?] {
    nodes.indices.map { position in
      cursor.notBegun(position).flatMap { node in nodes.firstIndex { $0 === node } }
    }
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

  @Test("one that was sent elsewhere has not begun before it arrives there")
  func elsewhere() throws {
    var cursor = Cursor(nodes)
    #expect(notBegun(cursor) == [0, 1, 2])
    let first = try #require(claim(&cursor))
    #expect(notBegun(cursor) == [nil, 1, 2])
    cursor.sendToExecutor(first)
    #expect(notBegun(cursor) == [0, 1, 2])
    let second = try #require(claim(&cursor))
    _ = cursor.claim()
    cursor.sendToExecutor(second)
    #expect(notBegun(cursor) == [0, 1, nil])
    #expect(cursor.beginOnExecutor(0) == true)
    #expect(notBegun(cursor) == [nil, 1, nil])
    // Nor does it begin twice, be it that it ends when the executor comes to it.
    #expect(cursor.beginOnExecutor(0) == false)
    // What has arrived keeps nothing.
    #expect(cursor.beginOnExecutor(1) == true)
    #expect(notBegun(cursor) == [nil, nil, nil])
  }

  @Test("one that arrives after a halt is not asked, and is kept no longer")
  func tooLate() throws {
    var cursor = Cursor(nodes)
    let first = try #require(claim(&cursor))
    cursor.sendToExecutor(first)
    #expect(cursor.halt().count == 4)
    #expect(cursor.beginOnExecutor(0) == false)
  }

  @Test("a halt writes nothing into the list, which another thread may have released just before")
  func writesNothing() throws {
    // With room for more, and nobody else's: it could be extended in place.
    var own = nodes
    own.reserveCapacity(10)
    let storage = Self.storage(of: own)
    var cursor = Cursor(own)
    own = []
    cursor.sendToExecutor(try #require(claim(&cursor)))
    let all = cursor.halt()
    #expect(all.count == 4)
    #expect(Self.storage(of: all) != storage)
  }

  private static func storage(of nodes: [SubscriptionNode]) -> UnsafePointer<SubscriptionNode>? {
    nodes.withUnsafeBufferPointer { $0.baseAddress }
  }
}
