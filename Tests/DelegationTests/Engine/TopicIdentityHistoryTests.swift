import Testing

@testable import Delegation

@Suite("Topic: small histories of who is who", .inTurn(.heavy))
struct TopicIdentityHistoryTests {
  enum Step: CaseIterable {
    case subscribeOne, subscribeOneAsA, subscribeOneAsB
    case subscribeOther, subscribeOtherAsA, subscribeOtherAsB
    case unsubscribeOne, unsubscribeA, unsubscribeAll
    case post, handleOne, otherDies
  }

  @Test(
    "after every history of four steps the subscriptions, their places and accounts are a list's")
  func agreesWithList() {
    let histories = words(of: Step.allCases, length: 4)
    #expect(histories.count == 20_736)
    for history in some(of: histories, oneIn: 5) {
      var run = IdentityRun()
      defer { run.board.clear() }
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }
}

/// A topic with two objects and two ids, and beside it a list of subscriptions.
private struct IdentityRun {
  struct Entry {
    let node: SubscriptionNode
    let object: ObjectIdentifier
    var id: String?
    let place: Int
    var isOpen = true
    /// Another one has taken its id.
    var isDisplaced = false
    var account = Account()
  }

  let board = Switchboard()
  private let one = Nobody()
  private var other: Nobody? = Nobody()
  private var list: [Entry] = []
  private var lastPlace = 0

  mutating func take(_ step: TopicIdentityHistoryTests.Step) -> String? {
    let fault: String?
    switch step {
    case .subscribeOne: fault = subscribe(one, nil)
    case .subscribeOneAsA: fault = subscribe(one, "a")
    case .subscribeOneAsB: fault = subscribe(one, "b")
    case .subscribeOther: fault = other.flatMap { subscribe($0, nil) }
    case .subscribeOtherAsA: fault = other.flatMap { subscribe($0, "a") }
    case .subscribeOtherAsB: fault = other.flatMap { subscribe($0, "b") }
    default:
      change(step)
      fault = nil
    }
    return fault ?? check()
  }

  private mutating func subscribe(_ object: Nobody, _ id: String?) -> String? {
    let address = ObjectIdentifier(object)
    let own = list.firstIndex { $0.isOpen && $0.object == address }
    let namesake = list.firstIndex { $0.isOpen && $0.id != nil && $0.id == id }
    let node = Structures.subscribe(object, in: board, identity: id.map(Identity.init))
    if let own {
      // The same subscription; whoever bore the id before is displaced.
      if let namesake, namesake != own {
        lose(namesake, to: \.cancelled)
        list[namesake].isDisplaced = true
      }
      list[own].id = id ?? list[own].id
      return node === list[own].node ? nil : "subscribed twice"
    }
    var successor = Entry(node: node, object: address, id: id, place: lastPlace + 1)
    if let namesake {
      // In the older one's place, with what waited for it.
      successor = Entry(node: node, object: address, id: id, place: list[namesake].place)
      successor.account.waiting = list[namesake].account.waiting
      list[namesake].account.waiting = 0
      list[namesake].isOpen = false
    } else {
      lastPlace += 1
    }
    if list.contains(where: { $0.node === node }) { return "an old subscription" }
    list.append(successor)
    return nil
  }

  private mutating func change(_ step: TopicIdentityHistoryTests.Step) {
    switch step {
    case .unsubscribeOne:
      let address = ObjectIdentifier(one)
      board.terminate(one)
      cancel { $0.object == address }
    case .unsubscribeA:
      board.terminate(identifiedBy: Identity("a"))
      cancel { $0.id == "a" }
    case .unsubscribeAll:
      board.topic().terminateAll()
      cancel { _ in true }
    case .post:
      board.post(Structures.content(), to: Structures.key)
      for index in list.indices where list[index].isOpen { list[index].account.waiting += 1 }
    case .handleOne:
      guard let index = list.firstIndex(where: \.isOpen) else { return }
      list[index].node.visit()
      list[index].account.handled += list[index].account.waiting
      list[index].account.waiting = 0
    default:
      guard let dying = other else { return }
      let address = ObjectIdentifier(dying)
      other = nil
      // Nobody has noticed yet; this run does at once, lest another object live there.
      for index in list.indices where list[index].isOpen && list[index].object == address {
        list[index].node.terminate(as: .expired)
        lose(index, to: \.expired)
      }
    }
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

  private func check() -> String? {
    for (index, entry) in list.enumerated() {
      if entry.node.isOpen != entry.isOpen { return "open: \(entry.node.isOpen), of \(index)" }
      if entry.node.serial != entry.place { return "place \(entry.node.serial) of \(index)" }
      var account = entry.node.account
      if entry.isDisplaced {
        // Ended, or as good as dead: no promise is made as to which.
        account.cancelled += account.expired
        account.expired = 0
      }
      if account != entry.account { return "\(account) of \(index), expected \(entry.account)" }
    }
    let snapshot = board.topic().snapshot().map(\.serial)
    let places = list.filter(\.isOpen).map(\.place).sorted()
    return snapshot == places ? nil : "snapshot \(snapshot), expected \(places)"
  }
}
