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
}
