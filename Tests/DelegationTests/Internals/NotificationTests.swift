import Testing

@testable import Delegation

@Suite("Notification: a chain shared by all that are to handle it", .inTurn)
struct NotificationTests {
  @Test("a chain of many is released without exhausting the stack, up to what is still in use")
  func longChain() {
    for kept in [nil, 4] {
      var first: Notification? = Structures.chain(of: kept == nil ? 300_000 : 9)
      var (middle, last) = (first, first)
      for _ in 0..<(kept ?? 0) { middle = middle?.next }
      while let next = last?.next { last = next }
      let obituaries = [first?.next, last].map { Obituary(of: $0!) }
      last = nil
      if kept == nil { middle = nil }
      first = nil
      #expect(obituaries.map(\.isDead) == [true, kept == nil])
      withExtendedLifetime(middle) {}
    }
  }

  @Test("each passes a receipt once, as it ends, and none of another protocol", arguments: seeds(1))
  func receipts(seed: UInt64) {
    for round in 0..<200 { play(seed: seed &* 1_000 &+ UInt64(round)) }
  }

  @Test("what a peak of calls has kept is given back when they have returned")
  func peak() {
    var queue = ReceiptQueue()
    let receipts = (0..<1_000).map { _ in Receipt(admitting: nil) }
    for (number, receipt) in receipts.enumerated() {
      let position = (topic: 1, number: number, order: number)
      receipt.open(at: position, addressees: 1)
      queue.add(receipt, at: position)
    }
    var sizes: [Int] = []
    for receipt in receipts {
      receipt.pass(as: .handled)
      _ = queue.noteReturn()
      sizes.append(queue.count)
    }
    #expect(sizes[600] <= 500 && sizes[999] <= 16)
  }

  @Test("an outcome has somebody left as long as its counts do not add up")
  func left() {
    let receipt = Receipt(admitting: nil)
    receipt.open(at: (1, 0, 0), addressees: 2)
    receipt.pass(as: .handled)
    // The other one is just passing it, and so is not found.
    #expect(!DelegateHub.Outcome(receipt, of: receipt).left.isEmpty)
    receipt.pass(as: .failed)
    #expect(DelegateHub.Outcome(receipt, of: receipt).left.isEmpty)
  }

  private func play(seed: UInt64) {
    let board = Board()
    defer { board.clear() }
    var dice = Dice(seed: seed)
    let subscribers = (0..<3).map { _ in Nobody() }
    var nodes = subscribers.map {
      board.subscribe($0, id: 1, mailbox: dice.roll(2) == 0 ? .latest : nil)
    }
    nodes = [nodes[2], board.subscribe(subscribers[0]), board.subscribe(subscribers[1])]
    var receipts: [(receipt: Receipt, addressed: Int)] = []
    for _ in 0..<12 {
      let node = nodes[dice.roll(3)]
      switch dice.roll(5) {
      case 0, 1:
        let receipt = Receipt(admitting: nil)
        #expect(!nodes.contains { $0.hasPending(receipt) })
        receipts.append((receipt, nodes.count(where: \.isOpen)))
        board.post(receipt: receipt)
      case 2: board.post()
      case 3: node.visit()
      default: if dice.roll(3) == 0 { node.terminate(as: .expired) }
      }
      for (receipt, addressed) in receipts {
        let owing = nodes.count { $0.hasPending(receipt) }
        let outcome = DelegateHub.Outcome(receipt)
        let outstanding = receipt.outstanding.value
        #expect(outstanding == owing && outcome.addressed == addressed && outcome.failed == 0)
        #expect(outcome.handled + outcome.missed + owing == addressed)
      }
    }
    for node in nodes { node.visit() }
    let left = receipts.count { $0.receipt.outstanding.value > 0 }
    #expect(left == 0)
    let sum = nodes.map(\.account).reduce(into: Account()) { $0 += $1 }
    #expect(sum.waiting + sum.handling == 0)
  }
}
