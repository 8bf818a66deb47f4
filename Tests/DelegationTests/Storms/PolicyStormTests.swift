import Testing

@testable import Delegation

@Suite("Storm: policies that change while others post", .inTurn(.heavy))
struct PolicyStormTests {
  private static let backlog = 40_000

  @Test("a post to another protocol does not wait until a new policy is applied to all that wait")
  func posts() async {
    let hub = DelegateHub()
    let (member, witness) = (Probe("member"), Probe("witness"))
    hub.subscribe(witness, to: Bystander.self)
    let gate = Gate()
    var shares: [Double] = []
    while shares.count < 50, !shares.contains(where: { $0 < 0.5 }) {
      hub.subscribe(member, to: Listener.self)
      for _ in 0..<Self.backlog { hub[Listener.self].notify() { _ in await gate.pass() } }
      shares.append(Self.longestPost(whileChanging: member, in: hub))
      hub.unsubscribe(member)
    }
    // On a busy machine the threads may stop anywhere, but not each time for that long. A post that waits for the
    // change takes most of its time in each round.
    #expect(shares.contains { $0 < 0.5 }, "\(shares)")
    gate.open()
    await hub.drain()
    withExtendedLifetime((member, witness)) {}
  }

  /// Changes the member's policy on one thread, and posts to another protocol on another one.
  ///
  /// - Returns: the time of the longest post, as a part of that of the change.
  private static func longestPost(whileChanging member: Probe, in hub: DelegateHub) -> Double {
    let (begun, ended) = (Count(), Count())
    let times = Lock((change: Duration.zero, post: Duration.zero))
    Threads.run(2) { index in
      if index == 0 {
        var longest = Duration.zero
        while ended.value == 0 {
          let start = ContinuousClock.now
          hub[Bystander.self].notify() { _ in }
          longest = max(longest, ContinuousClock.now - start)
          begun.add(1)
        }
        times.withLock { $0.post = longest }
      } else {
        // When the other one is at it.
        while begun.value == 0 { Threads.pause() }
        let start = ContinuousClock.now
        hub.subscribe(member, to: Listener.self, mailbox: .dropOldest(limit: backlog / 2))
        let time = ContinuousClock.now - start
        ended.add(1)
        times.withLock { $0.change = time }
      }
    }
    return times.withLock { $0.post / $0.change }
  }
}
