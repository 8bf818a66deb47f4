import Testing

@testable import Delegation

@Suite("Shards: a dictionary in parts", .inTurn)
struct ShardsTests {
  @Test("after any random history it is what a dictionary is", arguments: seeds(20))
  func agreesWithDictionary(seed: UInt64) {
    var dice = Dice(seed: seed)
    var shards = Shards<Int>()
    var dictionary: [Int: Int] = [:]
    #expect(shards[1] == nil)
    #expect(shards.count == 0)
    for step in 0..<6000 {
      // Grows for a while, then shrinks.
      let key = 16 * Int.random(in: 0..<2000, using: &dice)
      let value = Int.random(in: 0..<8, using: &dice) < (step < 3000 ? 6 : 1) ? step : nil
      shards[key] = value
      dictionary[key] = value
      #expect(shards.count == dictionary.count)
      #expect(shards[key] == value)
    }
    #expect(shards.values.sorted() == dictionary.values.sorted())
    for key in 0..<32_000 { #expect(shards[key] == dictionary[key]) }
  }

  @Test("the parts of many addresses are of about one size, and keep no peak's memory")
  func parts() throws {
    func parts(of shards: Shards<Int>) throws -> [[Int: Int]] {
      try #require(Mirror(reflecting: shards).descendant("parts") as? [[Int: Int]])
    }
    var shards = Shards<Int>()
    let addresses = (0..<16_000).map { 0x7f00_0000_0000 + 208 * $0 }
    for address in addresses { shards[address] = 1 }
    #expect(try parts(of: shards).allSatisfy { (500...2000).contains($0.count) })
    // As long as it is no peak's, they keep it: to remove a value is not to move the others.
    let capacities = try parts(of: shards).map(\.capacity)
    for address in addresses.dropFirst(8_000) { shards[address] = nil }
    #expect(try parts(of: shards).map(\.capacity) == capacities)
    for address in addresses.dropFirst(16) { shards[address] = nil }
    #expect(shards.count == 16)
    #expect(try parts(of: shards).allSatisfy { $0.capacity < 100 })
  }
}
