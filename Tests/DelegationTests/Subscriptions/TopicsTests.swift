import Synchronization
import Testing

@testable import Delegation

@Suite("Topics: how a protocol's topic is found", .inTurn(.heavy))
struct TopicsTests {
  private let owner = Dispatcher()

  @Test("each of ten thousand protocols has its own topic, which is found from then on")
  func many() {
    let types = Types.many(10_000)
    let topics = Topics()
    #expect(topics.all.isEmpty)
    #expect(topics.find(ObjectIdentifier(types[0])) == nil)
    let made = types.map { topics.find($0, owner: owner) }
    #expect(zip(types, made).allSatisfy { topics.find(ObjectIdentifier($0)) === $1 })
    #expect(zip(types, made).allSatisfy { topics.find($0, owner: owner) === $1 })
    #expect(made.map(\.key) == types.map { ObjectIdentifier($0) })
    #expect(topics.find(ObjectIdentifier(String.self)) == nil)
    // In the order in which they were made.
    #expect(topics.all.map(\.number) == made.map(\.number))
    // A tree in the best order has 14 levels.
    var level = made.prefix(1)
    var depth = 0
    while !level.isEmpty {
      level = level.flatMap { [$0.next(0), $0.next(.max)].compactMap(\.self) }[...]
      depth += 1
    }
    #expect(depth <= 40)
  }

  @Test("all threads find one topic for each protocol, whoever makes it")
  func threads() {
    let types = Types.many(100)
    let threads = 8
    let (meeting, wrong) = (Meeting(of: threads), Count())
    let number = rounds(200)
    /// `~Copyable`, and so in an object.
    final class Round: Sendable {
      let topics = Topics()
      let found = Lock<[[ObjectIdentifier]]>([])
    }
    let played = number.map { _ in Round() }
    Threads.run(threads) { [owner] thread in
      for round in number {
        guard meeting.await(round) else { return }
        var dice = Dice(seed: UInt64(round * threads + thread))
        var found = types.map { ObjectIdentifier($0) }
        for index in types.indices.shuffled(using: &dice) {
          let topic = played[round].topics.find(types[index], owner: owner)
          if topic.key != found[index] { wrong.add(1) }
          if played[round].topics.find(topic.key) !== topic { wrong.add(1) }
          found[index] = ObjectIdentifier(topic)
        }
        played[round].found.withLock { $0.append(found) }
      }
    }
    #expect(wrong.value == 0)
    for round in played {
      let found = round.found.withLock { $0 }
      #expect(found.dropFirst().allSatisfy { $0 == found[0] })
      #expect(found.isEmpty || round.topics.all.count == types.count)
    }
  }
}
