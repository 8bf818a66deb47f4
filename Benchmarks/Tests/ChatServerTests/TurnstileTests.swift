import Testing

@testable import ChatServerKit

@Suite("The turnstile", .timeLimit(.minutes(10)))
struct TurnstileTests {
  @Test("who is inside is waited for, and nobody comes in any more")
  func close() async {
    let turnstile = Turnstile()
    #expect(turnstile.enter())
    #expect(turnstile.enter())
    turnstile.leave()
    async let closed: Void = turnstile.close()
    while turnstile.enter() {
      turnstile.leave()
      await Task.yield()
    }
    turnstile.leave()
    await closed
    #expect(!turnstile.enter())
  }

  @Test("an empty one is closed at once, and once more")
  func empty() async {
    let turnstile = Turnstile()
    await turnstile.close()
    await turnstile.close()
    #expect(!turnstile.enter())
  }
}
