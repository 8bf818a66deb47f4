import Synchronization
import Testing

@testable import Delegation

@Suite("Succession: who waits for the workers of ended subscriptions")
struct SuccessionTests {
  private let subscribers = (0..<2).map { _ in Nobody() }

  @Test("an ended one at the address of another one does not take its place")
  func sameAddress() {
    // Of one object, as if it had died and another one had its address.
    let nodes = (0..<2).map { _ in Structures.node(of: subscribers[0]) }
    var succession = Succession()
    succession.remember(nodes[0])
    succession.keep(subscribers[1], of: nodes[0])
    succession.remember(nodes[1])
    let second = succession.release(nodes[1])
    #expect(second?.subscriber == nil)
    let first = succession.release(nodes[0])
    #expect(first?.subscriber === subscribers[1])
    #expect(succession.count == 0)
  }

  @Test("a subscription is held for one of the same object")
  func held() {
    let node = Structures.node(of: subscribers[0])
    var succession = Succession()
    var isHeld: [Bool] = []
    func add(_ object: Nobody) -> SubscriptionNode {
      succession.add(object) { isHeldNow in
        isHeld.append(isHeldNow)
        return Structures.node(of: object)
      }
    }
    _ = add(subscribers[0])
    node.state.bitwiseOr(SubscriptionNode.Bits.attended, ordering: .relaxed)
    succession.remember(node)
    _ = add(subscribers[1])
    let held = add(subscribers[0])
    #expect(isHeld == [false, false, true])
    #expect(succession.held(for: node) === held)
    #expect(succession.release(node)?.held == nil)
    node.state.bitwiseAnd(~SubscriptionNode.Bits.attended, ordering: .relaxed)
    let left = succession.release(node)
    #expect(left?.held === held)
    #expect(succession.count == 0)
  }

  @Test("one that is only asked holds nobody, and stays until it has answered")
  func asked() {
    let node = Structures.node(of: subscribers[0])
    #expect(node.beginCall())
    var succession = Succession()
    succession.remember(node)
    _ = succession.add(subscribers[0]) { isHeld in
      #expect(!isHeld)
      return Structures.node(of: subscribers[0])
    }
    #expect(succession.release(node)?.held == nil)
    #expect(succession.ended(at: node.address).count == 1)
    node.endCall()
    _ = succession.release(node)
    #expect(succession.count == 0)
  }

  @Test("one that is asked when its worker leaves gives out once who is held, and its object")
  func askedAndHeld() {
    let node = Structures.node(of: subscribers[0])
    #expect(node.beginCall())
    node.state.bitwiseOr(SubscriptionNode.Bits.attended, ordering: .relaxed)
    var succession = Succession()
    succession.remember(node)
    let held = succession.add(subscribers[0]) { _ in Structures.node(of: subscribers[0]) }
    succession.keep(subscribers[1], of: node)
    node.state.bitwiseAnd(~SubscriptionNode.Bits.attended, ordering: .relaxed)
    let left = succession.release(node)
    #expect(left?.held === held && left?.subscriber === subscribers[1])
    #expect(succession.held(for: node) == nil)
    node.endCall()
    let last = succession.release(node)
    #expect(last != nil && last?.held == nil && last?.subscriber == nil)
    #expect(succession.count == 0)
  }

  @Test("a handler that was left to an ended subscription does not begin once that is cancelled")
  func cancelledAfterwards() {
    let node = Structures.node(of: subscribers[0])
    _ = node.beginTermination(isSucceeded: true)
    #expect(node.mayHandle)
    node.terminate(as: .cancelled)
    #expect(!node.mayHandle)
  }
}
