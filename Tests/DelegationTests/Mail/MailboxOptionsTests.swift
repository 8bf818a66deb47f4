import Testing

@testable import Delegation

@Suite("Mailbox: policies that change", .inTurn(.heavy))
struct MailboxOptionsTests {
  @Test(
    "after every history of seven steps it holds, drops and owes what a list would",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .dropOldest(limit: 2)])
  func agreesWithList(policy: DelegateHub.MailboxPolicy) {
    let exploration = MailboxOptionsWorld(policy).explore(upTo: 7)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 30_000)
  }
}
