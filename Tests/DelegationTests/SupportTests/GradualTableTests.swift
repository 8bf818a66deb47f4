import Testing

@testable import Delegation

@Suite("GradualTable: a dictionary of which no change takes long", .inTurn)
struct GradualTableTests {
  @Test("after any random history it is what a dictionary is", arguments: seeds(20))
  func agreesWithDictionary(seed: UInt64) {
    var dice = Dice(seed: seed)
    var table = GradualTable<Int, Int>()
    var dictionary: [Int: Int] = [:]
    for step in 0..<3000 {
      // Grows for a while, then shrinks.
      let key = Int.random(in: 0..<1000, using: &dice)
      if Int.random(in: 0..<3, using: &dice) < (step < 2000 ? 2 : 1) {
        table[key] = step
        dictionary[key] = step
      } else {
        #expect(table.removeValue(forKey: key) == dictionary.removeValue(forKey: key))
      }
      #expect(table.count == dictionary.count)
      #expect(table.isEmpty == dictionary.isEmpty)
      #expect(table[key] == dictionary[key])
    }
    #expect(table.values.sorted() == dictionary.values.sorted())
    for key in 0..<1000 { #expect(table[key] == dictionary[key]) }
  }

  @Test("a value is changed in place, made, and removed, as the closure says")
  func update() {
    var table = GradualTable<String, [Int]>()
    table.update("a") { value in
      #expect(value == nil)
      value = [1]
    }
    table.update("a") { $0?.append(2) }
    #expect(table["a"] == [1, 2])
    table.update("b") { _ in }
    #expect(table.count == 1)
    table.update("a") { $0 = nil }
    #expect(table["a"] == nil)
    #expect(table.isEmpty)
  }

  @Test("who looks through it bucket by bucket meets all that stay, whatever comes and goes")
  func lookThrough() {
    var table = GradualTable<Int, Int>()
    for key in 0..<500 { table[key] = key }
    var met: Set<Int> = []
    var place = GradualTable<Int, Int>.Place()
    var next = 500
    while let values = table.values(at: &place) {
      met.formUnion(values)
      // It grows and is split meanwhile, and half of what was there leaves.
      for _ in 0..<5 {
        table[next] = next
        next += 1
      }
      if next % 10 == 0, next < 1000 { table.removeValue(forKey: next - 500) }
    }
    let stayed = (0..<500).filter { table[$0] != nil }
    #expect(stayed.count > 300)
    #expect(met.isSuperset(of: stayed))
  }

  @Test("who looks through it meets all that stay while it shrinks and grows", arguments: seeds(50))
  func lookThroughShrinking(seed: UInt64) {
    var dice = Dice(seed: seed)
    var table = GradualTable<Int, Int>()
    for key in 0..<800 { table[key] = key }
    // Every eighth stays.
    var leaving = Set((0..<800).filter { $0 % 8 != 0 })
    var met: Set<Int> = []
    var place = GradualTable<Int, Int>.Place()
    var next = 800
    while let values = table.values(at: &place) {
      met.formUnion(values)
      for _ in 0..<Int.random(in: 0..<60, using: &dice) {
        guard let key = leaving.popFirst() else { break }
        table[key] = nil
      }
      for _ in 0..<Int.random(in: 0..<20, using: &dice) where next < 1200 {
        table[next] = next
        next += 1
      }
    }
    #expect(met.isSuperset(of: stride(from: 0, to: 800, by: 8)))
  }

  @Test("it goes by what it has, and not by what it had")
  func shrinks() {
    var table = GradualTable<Int, Int>()
    for key in 0..<4000 { table[key] = key }
    for key in 0..<4000 {
      table[key] = nil
      guard key % 500 == 499 else { continue }
      var place = GradualTable<Int, Int>.Place()
      var pieces = 0
      var met: [Int] = []
      while let values = table.values(at: &place) {
        pieces += 1
        met += values
        #expect(values.count <= 64)
      }
      #expect(pieces <= table.count / 2 + 1)
      #expect(met.sorted() == Array(key + 1..<4000))
    }
    #expect(table.isEmpty)
    table[1] = 1
    #expect(table.values == [1])
  }

  @Test("who looks through one that never had anything is at the end")
  func neverFilled() {
    let table = GradualTable<Int, Int>()
    var place = GradualTable<Int, Int>.Place()
    let values = table.values(at: &place)
    #expect(values == nil)
    #expect(table[1] == nil)
  }

  @Test("its buckets are in pieces, which come and go with them")
  func pieces() throws {
    var table = GradualTable<Int, Int>()
    // With 1,537 it has one bucket more than a piece has.
    for count in [7, 1_537, 3_100, 500, 1_537, 1, 1_537] {
      for key in table.count..<max(count, table.count) { table[key] = key }
      for key in count..<max(count, table.count) { table[key] = nil }
      #expect(table.count == count)
      // How many buckets each has: all are full except for the last, which is not empty.
      let sizes = Self.pieces(of: table)
      let (first, last) = (try #require(sizes.first), try #require(sizes.last))
      #expect(sizes.dropLast().allSatisfy { $0 == first })
      #expect(last > 0 && last <= first)
    }
  }

  private static func pieces(of table: GradualTable<Int, Int>) -> [Int] {
    let pieces = Mirror(reflecting: table).descendant("segments") as? [Any]
    return pieces?.compactMap { ($0 as? [Any])?.count } ?? []
  }
}
