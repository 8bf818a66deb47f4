import Testing

@testable import Delegation

@Suite("Topic: who is subscribed, and what is kept of them", .inTurn(.heavy))
struct TopicTests {
  @Test("the dead are looked for at 512 subscribers, once, and then at twice as many as are alive")
  func sweeps() {
    let board = Board()
    defer { board.clear() }
    var subscribers: [Nobody] = []
    var due: [Int] = []
    func subscribe(upTo population: Int) {
      while board.topic.state.withLock({ $0.open.count }) < population {
        subscribers.append(Nobody())
        _ = board.subscribe(subscribers.last!)
        if board.takeSweeps() > 0 { due.append(board.topic.state.withLock { $0.open.count }) }
      }
    }
    subscribe(upTo: 1_100)
    #expect(due == [512])
    board.topic.state.withLock { $0.didSweep(survivors: 1_000) }
    subscribe(upTo: 2_100)
    #expect(due == [512, 2_000])
    // After a peak as early as before it.
    board.topic.terminateAll()
    board.topic.state.withLock { $0.didSweep(survivors: 0) }
    subscribe(upTo: 600)
    #expect(due == [512, 2_000, 512])
  }

  @Test("those that have ended are released by the next look, or when many or all have")
  func released() {
    let board = Board()
    defer { board.clear() }
    let subscriber = Nobody()
    let present = board.subscribe(subscriber)
    func end() -> Obituary {
      let node = board.subscribe(Nobody())
      node.terminate(as: .cancelled)
      return Obituary(of: node)
    }
    let first = end()
    #expect(!first.isDead && board.topic.snapshot().map(\.serial) == [present.serial])
    #expect(first.isDead)
    let many = (1..<TopicIndex.smallestSweep).map { _ in end() }
    #expect(!many.contains { $0.isDead })
    let last = end()
    #expect((many + [last]).allSatisfy { $0.isDead })
    present.terminate(as: .cancelled)
    #expect(end().isDead)
  }

  @Test("so many questions that the word cannot count them are counted all the same")
  func fullWord() {
    let board = Board()
    defer { board.clear() }
    typealias Bits = SubscriptionNode.Bits
    let subscriber = Nobody()
    let node = board.subscribe(subscriber)
    let most = Int(Bits.full / Bits.asked)
    // As if it had been asked and had answered so often.
    node.state.wrappingAdd(Bits.full - 3 * Bits.asked, ordering: .relaxed)
    let words = (0..<6).map { _ in node.countCall() }
    #expect(node.questions == QuestionAccount(answered: most - 3, answering: 6) && node.mayBegin())
    #expect(node.state.load(ordering: .relaxed) & Bits.full == 0)
    for word in words where word & Bits.full != 0 { #expect(node.goOnWithCall(since: word)) }
    for end in [CallEnd.answered, .failed, .abandoned, .late, .unasked, .answered] {
      node.endCall(as: end)
    }
    #expect(
      node.questions == QuestionAccount(answered: most - 1, failed: 1, late: 1, abandoned: 1))
    #expect(node.isOpen && node.runningCalls == 0)
  }

  @Test("each of many protocols has one topic, which all threads find")
  func table() {
    let types = Self.types(2_500)
    let board = Board()
    let owner = board.topic.owner!
    final class Table: Sendable { let topics = TopicTable() }
    let (table, found) = (Table(), Recorder<[ObjectIdentifier]>())
    Threads.run(4) { thread in
      var dice = Dice(seed: UInt64(thread))
      var own = types.map { ObjectIdentifier($0) }
      for index in types.indices.shuffled(using: &dice) {
        let topic = table.topics.find(types[index], owner: owner)
        if topic.key != own[index] || table.topics.find(topic.key) !== topic { return }
        own[index] = ObjectIdentifier(topic)
      }
      found.record(own)
    }
    #expect(found.count == 4 && Set(found.history).count == 1)
    #expect(table.topics.find(ObjectIdentifier(String.self)) == nil)
    #expect(table.topics.all.map { ObjectIdentifier($0) }.count == types.count)
  }

  @Test("a sharded dictionary is what a dictionary is", arguments: seeds(4))
  func shardedDictionary(seed: UInt64) {
    var dice = Dice(seed: seed)
    var (shards, dictionary) = (ShardedDictionary<Int>(), [Int: Int]())
    for step in 0..<6000 {
      // Grows for a while, then shrinks.
      let key = 16 * dice.roll(2000)
      let value = dice.roll(8) < (step < 3000 ? 6 : 1) ? step : nil
      (shards[key], dictionary[key]) = (value, value)
      if shards.count != dictionary.count {
        Issue.record("\(shards.count)")
        return
      }
    }
    #expect(shards.values.sorted() == dictionary.values.sorted())
    for key in 0..<32_000 where shards[key] != dictionary[key] { Issue.record("\(key)") }
  }

  /// That many types, which stand for protocols.
  private static func types(_ count: Int) -> [Any.Type] {
    enum Pair<One, Other> {}
    var stems: [Any.Type] = [Nobody.self]
    while stems.count * stems.count < count {
      func open<T>(_ type: T.Type) -> Any.Type { T?.self }
      stems.append(_openExistential(stems[stems.count - 1], do: open))
    }
    func pair<One>(_ one: One.Type) -> [Any.Type] {
      func pair<Other>(_ other: Other.Type) -> Any.Type { Pair<One, Other>.self }
      return stems.map { _openExistential($0, do: pair) }
    }
    return Array(stems.flatMap { _openExistential($0, do: pair) }.prefix(count))
  }
}
