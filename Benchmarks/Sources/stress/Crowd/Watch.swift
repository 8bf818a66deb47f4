import Delegation
import Synchronization

/// What one subscriber sees of the promises made to it.
final class Watch: Sendable {
  private static let lastNumber = Counter()

  let number = Watch.lastNumber.add()
  private let (world, life, name): (World, Life, String)
  private let isHandling = Atomic<Bool>(false)
  /// What has ended its subscription, and how many handlers may begin after that.
  private let bar = Mutex<(call: String, allowed: Int)?>(nil)
  /// How many of its handlers have ended in whichever way, and how many of them threw.
  let (handled, failed) = (Counter(), Counter())
  /// What has come to it.
  let book: Notebook
  /// What it can cancel itself with.
  let subscription = Mutex<DelegateHub.Subscription?>(nil)

  init(_ world: World, of name: String = "a subscriber", isGapless: Bool = false) {
    (self.world, self.name, life) = (world, name, Life(in: world))
    book = Notebook(name, in: world, isGapless: isGapless)
  }

  /// Notes that a handler begins.
  func begin(_ event: Event) {
    let wasHandling = isHandling.exchange(true, ordering: .acquiringAndReleasing)
    world.violations.check(!wasHandling, "\(name) handled two notifications at a time")
    let call = bar.withLock { bar -> String? in
      bar?.allowed -= 1
      return bar.flatMap { $0.allowed < 0 ? $0.call : nil }
    }
    if let call { world.violations.check(false, "a handler began after \(call) had returned") }
    if let note = event.note { book.enter(note) }
  }

  /// Notes that a handler ends.
  func end(throwing: Bool) {
    isHandling.store(false, ordering: .releasing)
    if throwing { failed.add() }
    handled.add()
  }

  /// Notes that its subscription has ended, and how many handlers may be on their way: one, after `cancelAndWait` none.
  func bar(after call: Tally.Ending, allowing number: Int = 1) {
    bar.withLock { $0 = (call.rawValue, min(number, $0?.allowed ?? number)) }
    let isRunning = call == .cancelAndWait && isHandling.load(ordering: .acquiring)
    world.violations.check(!isRunning, "a handler ran on after cancelAndWait had returned")
    world.tally.count(call)
  }
}
