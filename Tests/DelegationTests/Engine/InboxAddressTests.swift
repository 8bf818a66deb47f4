import Testing

@testable import Delegation

@Suite("Inbox: addresses that are used again")
struct InboxAddressTests {
  @Test("of those that lived at one address, with ids of their own, no more than one is kept there")
  func oneAtAnAddress() {
    let inbox = Inbox()
    defer { inbox.clear() }
    var most = 0
    for number in 0..<500 {
      let subscriber = Nobody()
      _ = Structures.subscribe(subscriber, in: inbox, identity: Identity(number))
      let address = ObjectIdentifier(subscriber)
      let present = inbox.index(of: Structures.key)?.all.count { $0.reference.identity == address }
      most = max(most, present ?? 0)
    }
    // All but the newcomer are dead. Where addresses are not used again it does not show.
    #expect(most == 1)
  }
}
