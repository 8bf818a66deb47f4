import Delegation
import Synchronization

/// What one subscriber sees of the promises made to it.
final class Watch: Sendable {
  private static let lastNumber = Counter()

  let number = Watch.lastNumber.add()
  private let world: World
  private let life: Life
  private let isHandling = Atomic<Bool>(false)
  private let isBarred = Atomic<Bool>(false)
  /// How many of its handlers have ended in whichever way, and how many of them threw.
  let (handled, failed) = (Counter(), Counter())
  /// What has come to it.
  let book: Notebook
  /// What it can cancel itself with.
  let subscription = Mutex<DelegateHub.Subscription?>(nil)

  init(_ world: World) {
    self.world = world
    life = Life(in: world)
    book = Notebook("a subscriber", in: world, isGapless: false)
  }

  /// Notes that a handler begins.
  func begin(_ event: Event) {
    let wasHandling = isHandling.exchange(true, ordering: .acquiringAndReleasing)
    world.violations.check(!wasHandling, "a subscriber handled two notifications at a time")
    let isLate = isBarred.load(ordering: .acquiring)
    world.violations.check(!isLate, "a handler began after cancelAndWait had returned")
    if let note = event.note { book.enter(note) }
  }

  /// Notes that a handler ends.
  func end(throwing: Bool) {
    isHandling.store(false, ordering: .releasing)
    if throwing { failed.add() }
    handled.add()
  }

  /// Notes that no handler runs or will run any more.
  func bar() {
    isBarred.store(true, ordering: .releasing)
    let isRunning = isHandling.load(ordering: .acquiring)
    world.violations.check(!isRunning, "a handler ran on after cancelAndWait had returned")
  }
}
