import Testing

@testable import Delegation

@Suite("Topic: who is subscribed, and what is kept of them", .inTurn(.heavy))
struct TopicTests {
  @Test("a window finds what was posted so many before, but not what all have passed")
  func window() {
    let (board, nobody) = (Board(), Nobody())
    defer { board.clear() }
    let node = board.subscribe(nobody)
    let receipts = (0..<4).map { _ in Receipt(admitting: nil) }
    func found(_ count: Int) -> Receipt? { board.topic.receipt(count, before: receipts[3]) }
    board.post(receipt: receipts[0])
    board.post(receipt: receipts[1])
    node.visit()
    board.post(receipt: receipts[2])
    board.post(receipt: receipts[3])
    #expect(found(0) === receipts[3] && found(1) === receipts[2])
    // Both are still queued, to be removed with others.
    #expect(receipts[1].isPassed && found(2) == nil && found(3) == nil)
    // Of the first one there is none.
    #expect(found(4) == nil)
    withExtendedLifetime(nobody) {}
  }

  fileprivate enum Step {
    case subscribe(isOther: Bool, String?)
    case unsubscribeOne, unsubscribeA, unsubscribeAll
    case post, handleOne, otherDies, beginDelivery

    static let all =
      [false, true].flatMap { isOther in [nil, "a", "b"].map { subscribe(isOther: isOther, $0) } }
      + [unsubscribeOne, unsubscribeA, unsubscribeAll, post, handleOne, otherDies, beginDelivery]
  }

  @Test("after every history of four steps subscriptions and accounts are a list's")
  func agreesWithList() {
    for history in some(of: words(of: Step.all, length: 4), oneIn: 5) {
      var run = TopicRun()
      defer { run.board.clear() }
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }

  @Test("the dead are looked for at 512 subscribers, once, and then at twice as many as are alive")
  func sweeps() {
    let board = Board()
    defer { board.clear() }
    var subscribers: [Nobody] = []
    var due: [Int] = []
    func subscribe(upTo population: Int) {
      while board.topic.state.withLock({ $0.population }) < population {
        subscribers.append(Nobody())
        _ = board.subscribe(subscribers.last!)
        if board.takeSweeps() > 0 { due.append(board.topic.state.withLock { $0.population }) }
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

/// An id that is equal to another one of its name, and does something while it is compared; all have one hash.
private struct Name: Hashable {
  let name: String
  let onComparison: @Sendable () -> Void

  init(_ name: String, onComparison: @escaping @Sendable () -> Void = {}) {
    self.name = name
    self.onComparison = onComparison
  }

  static func == (one: Name, other: Name) -> Bool {
    one.onComparison()
    other.onComparison()
    return one.name == other.name
  }

  func hash(into hasher: inout Hasher) {}
}

/// A topic with two objects and two ids, and beside it a list of subscriptions.
private struct TopicRun {
  struct Entry {
    let node: SubscriptionNode
    let object: ObjectIdentifier
    var id: String?
    let place: Int
    var isOpen = true
    var account = Account()
  }

  let board = Board()
  private let one = Nobody()
  private var other: Nobody? = Nobody()
  private var list: [Entry] = []
  private var lastPlace = 0
  private var isDeliveryDue = false

  mutating func take(_ step: TopicTests.Step) -> String? {
    let fault: String? =
      switch step {
      case .subscribe(false, let id): subscribe(one, id)
      case .subscribe(true, let id): other.flatMap { subscribe($0, id) }
      default: change(step)
      }
    return fault ?? check()
  }

  private mutating func subscribe(_ object: Nobody, _ id: String?) -> String? {
    let address = ObjectIdentifier(object)
    let own = list.firstIndex { $0.isOpen && $0.object == address }
    let namesake = list.firstIndex { $0.isOpen && $0.id != nil && $0.id == id }
    let node = board.subscribe(object, id: id)
    if let own, id == nil || namesake == own {
      return node === list[own].node ? nil : "subscribed twice"
    }
    if own != nil, let namesake { lose(namesake, to: \.cancelled) }
    let former = own ?? namesake
    var entry = Entry(node: node, object: address, id: id, place: lastPlace + 1)
    if let former {
      // In the older one's place, with what waited for it.
      entry = Entry(node: node, object: address, id: id, place: list[former].place)
      entry.account.waiting = list[former].account.waiting
      list[former].account.waiting = 0
      list[former].isOpen = false
    } else {
      lastPlace = node.serial
      if list.contains(where: { $0.place >= lastPlace }) { return "a place that was had before" }
      entry = Entry(node: node, object: address, id: id, place: lastPlace)
    }
    if list.contains(where: { $0.node === node }) { return "an old subscription" }
    list.append(entry)
    return nil
  }

  private mutating func change(_ step: TopicTests.Step) -> String? {
    switch step {
    case .unsubscribeOne:
      let address = ObjectIdentifier(one)
      board.topic.terminate(one)
      cancel { $0.object == address }
    case .unsubscribeA:
      board.topic.terminate(identifiedBy: Identity("a"))
      cancel { $0.id == "a" }
    case .unsubscribeAll:
      board.topic.terminateAll()
      cancel { _ in true }
    case .post:
      let isRequested = board.post()
      let hasAudience = list.contains(where: \.isOpen)
      if isRequested != (hasAudience && !isDeliveryDue) { return "requested: \(isRequested)" }
      if hasAudience { isDeliveryDue = true }
      for index in list.indices where list[index].isOpen { list[index].account.waiting += 1 }
    case .beginDelivery:
      guard isDeliveryDue else { return nil }
      isDeliveryDue = false
      let serials = board.beginDelivery().map(\.serial)
      if serials != places { return "a delivery to \(serials)" }
    case .handleOne:
      guard let index = list.firstIndex(where: \.isOpen) else { return nil }
      list[index].node.visit()
      list[index].account.handled += list[index].account.waiting
      list[index].account.waiting = 0
    default:
      guard let dying = other else { return nil }
      let address = ObjectIdentifier(dying)
      other = nil
      // Nobody has noticed yet; this run does at once, lest another object have that address.
      for index in list.indices where list[index].isOpen && list[index].object == address {
        list[index].node.terminate(as: .expired)
        lose(index, to: \.expired)
      }
    }
    return nil
  }

  private mutating func cancel(where isMeant: (Entry) -> Bool) {
    for index in list.indices where list[index].isOpen && isMeant(list[index]) {
      lose(index, to: \.cancelled)
    }
  }

  private mutating func lose(_ index: Int, to fate: WritableKeyPath<Account, Int>) {
    list[index].isOpen = false
    list[index].account[keyPath: fate] += list[index].account.waiting
    list[index].account.waiting = 0
  }

  private var places: [Int] { list.filter(\.isOpen).map(\.place).sorted() }

  private func check() -> String? {
    for (index, entry) in list.enumerated() {
      if entry.node.isOpen != entry.isOpen { return "open: \(entry.node.isOpen), of \(index)" }
      if entry.node.serial != entry.place { return "place \(entry.node.serial) of \(index)" }
      let account = entry.node.account
      if account != entry.account { return "\(account) of \(index), expected \(entry.account)" }
    }
    let topic = board.topic
    let snapshot = topic.snapshot().map(\.serial)
    if snapshot != places { return "snapshot \(snapshot), expected \(places)" }
    if topic.hasAudience.load(ordering: .relaxed) == places.isEmpty { return "heard" }
    let overview = topic.overview()
    let sum = overview.nodes.reduce(into: overview.counts) { $0 += $1.account }
    if sum.addressed != topic.state.withLock({ $0.addressed }) { return "the sums: \(sum)" }
    board.takeRequested()
    return board.workers == (isDeliveryDue ? 1 : 0) ? nil : "\(board.workers) workers"
  }
}
