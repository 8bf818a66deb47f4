import Synchronization
import Testing

@testable import ChatServerKit

@Suite("The flood limit", .timeLimit(.minutes(10)))
struct FloodLimitTests {
  /// A time that goes on when it is told to.
  private final class Clock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) {
      instant.withLock { $0 += duration }
    }
  }

  private let clock = Clock()
  private let limit: FloodLimit

  init() {
    limit = FloodLimit(perSecond: 10) { [clock] in clock.now }
  }

  /// How many messages in a row are allowed.
  private func burst(_ name: String, _ role: User.Role, by connection: Int) -> Int {
    let draft = Draft(
      room: "tea", sender: User(name: name, role: role), connection: connection, text: "hello")
    var count = 0
    while count < 100, limit.verdict(on: draft) == .agrees { count += 1 }
    return count
  }

  @Test("a burst of twice what is allowed in a second, then as many as there was time for")
  func rate() {
    #expect(burst("ann", .member, by: 1) == 20)
    clock.advance(by: .milliseconds(500))
    #expect(burst("ann", .member, by: 1) == 5)
    clock.advance(by: .seconds(1))
    #expect(burst("ann", .member, by: 1) == 10)
    clock.advance(by: .seconds(60))
    #expect(burst("ann", .member, by: 1) == 20)
    #expect(burst("root", .administrator, by: 2) == 100)
  }

  @Test("guests have an allowance for each connection, users with an account one over all")
  func speakers() {
    #expect(burst("ann", .guest, by: 1) == 20)
    #expect(burst("ann", .guest, by: 2) == 20, "another guest of that name")
    #expect(burst("eve", .guest, by: 2) == 0, "the same guest under another name")
    #expect(burst("bob", .member, by: 3) == 20)
    #expect(burst("bob", .member, by: 4) == 0)
    #expect(burst("bob", .guest, by: 5) == 20, "no account, whatever the name")
  }

  @Test("it keeps no allowance that nobody has used for a while, and all that are used")
  func forgetting() {
    for connection in 1...1000 { _ = burst("ann", .guest, by: connection) }
    #expect(limit.count == 1000)
    // Somebody goes on speaking meanwhile: what is used does not become full by being forgotten.
    for _ in 1...80 {
      clock.advance(by: .milliseconds(100))
      #expect(burst("ann", .guest, by: 1) == 1)
    }
    #expect(limit.count == 1)
    clock.advance(by: .seconds(3600))
    #expect(burst("bob", .member, by: 2) == 20)
    #expect(limit.count == 1)
  }

  @Test("one that is used up says how long it takes until there is one more")
  func waiting() {
    var allowance = Allowance(perSecond: 10, at: clock.now)
    for _ in 1...20 { #expect(allowance.take(at: clock.now) == nil) }
    #expect(allowance.take(at: clock.now) == .milliseconds(100))
    clock.advance(by: .milliseconds(60))
    #expect(allowance.take(at: clock.now) == .milliseconds(40))
    clock.advance(by: .milliseconds(40))
    #expect(allowance.take(at: clock.now) == nil)
    clock.advance(by: .seconds(3600))
    for _ in 1...20 { #expect(allowance.take(at: clock.now) == nil) }
    #expect(allowance.take(at: clock.now) != nil)
  }
}
