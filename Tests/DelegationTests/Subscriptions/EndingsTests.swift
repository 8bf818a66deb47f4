import Synchronization
import Testing

@testable import Delegation

@Suite("Endings: what has ended and is not accounted for, and who waits for that", .inTurn)
struct EndingsTests {
  private let subscribers = (0..<2).map { _ in Nobody() }

  /// An account that can be told from others.
  private func account(_ number: Int) -> (counts: Account, questions: QuestionAccount) {
    (Account(handled: number), QuestionAccount(answered: 10 * number))
  }

  private func setAttended(_ node: SubscriptionNode, _ isAttended: Bool) {
    if isAttended {
      node.state.bitwiseOr(SubscriptionNode.Bits.attended, ordering: .relaxed)
    } else {
      node.state.bitwiseAnd(~SubscriptionNode.Bits.attended, ordering: .relaxed)
    }
  }

  @Test("each is there until it is added up, which it is once, whoever else finds it finished")
  func sums() {
    // Of one object, as if it had died and others had its address.
    let nodes = (0..<3).map { _ in Structures.node(of: subscribers[0]) }
    var endings = Endings()
    for node in nodes { endings.add(node) }
    #expect(endings.nodes(at: nodes[0].address).count == 3)
    for (number, index) in [1, 0, 2].enumerated() {
      #expect(endings.finish(nodes[index], with: nil) != nil)
      #expect(endings.nodes.count == 3 - number)
      #expect(endings.finish(nodes[index], with: account(1 << index)) != nil)
      #expect(endings.finish(nodes[index], with: account(1 << index)) == nil)
      #expect(!endings.nodes.contains { $0 === nodes[index] })
    }
    #expect(endings.nodes.isEmpty)
    #expect(endings.nodes(at: nodes[0].address).isEmpty)
    #expect(endings.counts == Account(handled: 7))
    #expect(endings.questions == QuestionAccount(answered: 70))
  }

  @Test("one that has never ended is not added up")
  func unknown() {
    var endings = Endings()
    #expect(endings.finish(Structures.node(of: subscribers[0]), with: account(1)) == nil)
    #expect(endings.counts == Account())
  }

  @Test("one that a worker attends is not added up")
  func attended() {
    let node = Structures.node(of: subscribers[0])
    var endings = Endings()
    setAttended(node, true)
    endings.add(node)
    #expect(endings.finish(node, with: account(1)) == nil)
    #expect(endings.nodes.count == 1)
    #expect(endings.counts == Account())
  }

  @Test("an ended one at the address of another one does not take its place")
  func sameAddress() {
    let nodes = (0..<2).map { _ in Structures.node(of: subscribers[0]) }
    var endings = Endings()
    endings.add(nodes[0])
    endings.keep(subscribers[1], of: nodes[0])
    endings.add(nodes[1])
    #expect(endings.finish(nodes[1], with: account(1))?.subscriber == nil)
    #expect(endings.finish(nodes[0], with: account(1))?.subscriber === subscribers[1])
    #expect(endings.nodes.isEmpty)
  }

  @Test("a subscription is held for one of the same object that is attended, and given out once")
  func held() {
    let (node, new) = (Structures.node(of: subscribers[0]), Structures.node(of: subscribers[0]))
    var endings = Endings()
    endings.add(node)
    #expect(endings.attended(subscribers[0]) == nil)
    setAttended(node, true)
    #expect(endings.attended(subscribers[0]) === node)
    #expect(endings.attended(subscribers[1]) == nil)
    endings.hold(new, for: node)
    #expect(endings.held(for: node) === new)
    #expect(endings.finish(node, with: nil) == nil)
    setAttended(node, false)
    #expect(endings.finish(node, with: account(1))?.held === new)
    #expect(endings.held(for: node) == nil)
    #expect(endings.finish(node, with: account(1)) == nil)
  }

  @Test("one that is asked when its worker leaves gives out once who is held, and its object")
  func askedAndHeld() {
    let (node, new) = (Structures.node(of: subscribers[0]), Structures.node(of: subscribers[0]))
    #expect(node.beginCall())
    setAttended(node, true)
    var endings = Endings()
    endings.add(node)
    endings.hold(new, for: node)
    endings.keep(subscribers[1], of: node)
    setAttended(node, false)
    let left = endings.finish(node, with: nil)
    #expect(left?.held === new && left?.subscriber === subscribers[1])
    #expect(endings.held(for: node) == nil)
    node.endCall()
    let last = endings.finish(node, with: account(1))
    #expect(last != nil && last?.held == nil && last?.subscriber == nil)
    #expect(endings.nodes.isEmpty)
  }

  @Test("a handler that was left to an ended subscription does not begin once that is cancelled")
  func cancelledAfterwards() {
    let node = Structures.node(of: subscribers[0])
    node.beginTermination(isSucceeded: true)
    #expect(node.mayHandle)
    node.terminate(as: .cancelled)
    #expect(!node.mayHandle)
  }

  @Test(
    "whoever ends last, and whoever asks too late, the sums have each notification and question")
  func race() {
    let number = rounds(2_000)
    let boards = number.map { _ in Switchboard() }
    let nodes = boards.map { board in
      let node = Structures.subscribe(subscribers[0], in: board)
      #expect(node.beginCall() && node.beginCall())
      for _ in 0..<2 { board.post(Structures.content(), to: Structures.key) }
      #expect(node.begin() != nil)
      return node
    }
    let meeting = Meeting(of: 4)
    let asked = Atomic<Int>(0)
    Threads.run(4) { thread in
      for round in number {
        guard meeting.await(round) else { return }
        let node = nodes[round]
        switch thread {
        case 0: node.terminate(as: .cancelled)
        case 1: while case .handle = node.advance(after: .handled) {}
        case 2: for _ in 0..<2 { node.endCall() }
        default:
          for _ in 0..<4 where node.beginCall() {
            asked.add(1, ordering: .relaxed)
            node.endCall()
          }
        }
      }
    }
    // If its time was up, the last ones have not been played.
    let played = zip(boards, nodes).filter { !$1.isOpen }
    var answered = 0
    for (board, node) in played {
      let overview = node.topic.overview()
      #expect(overview.nodes.isEmpty)
      #expect(
        overview.counts.addressed == 2 && overview.counts.waiting + overview.counts.handling == 0)
      #expect(overview.questions.answering == 0)
      answered += overview.questions.answered
      withExtendedLifetime(board) {}
    }
    #expect(!played.isEmpty)
    #expect(answered == 2 * played.count + asked.load(ordering: .relaxed))
    for (board, node) in zip(boards, nodes) {
      if node.isOpen {
        for _ in 0..<2 { node.endCall() }
        _ = node.advance(after: .handled)
      }
      board.clear()
    }
  }
}
