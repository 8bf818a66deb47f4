import Dispatch

@testable import Delegation

/// Blocks a thread until the test ends that, or for so long that the test has failed.
final class Blockade: Sendable {
  private let mayGoOn = DispatchSemaphore(value: 0)
  private let entered = Gate()
  private let timedOut = Lock(false)

  /// Blocks the thread.
  func enter() {
    entered.arrive()
    // A bound for the case that what is tested waits for this; otherwise nobody waits for it to pass.
    if mayGoOn.wait(timeout: .now() + .seconds(InTurn.patience)) == .timedOut {
      timedOut.withLock { $0 = true }
    }
  }

  /// Waits until a thread is blocked.
  func entry() async { await entered.arrivals() }

  /// Lets the thread go on.
  ///
  /// - Returns: whether it had been blocked up to now.
  func end() -> Bool {
    mayGoOn.signal()
    return timedOut.withLock { !$0 }
  }
}
