/// A listener that is asynchronous by its protocol, but never suspends.
final class PromptListener: AsyncListener {
  private let counter: BurstCounter

  /// Makes one.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) { counter = BurstCounter(burst: burst, end: end) }

  func didPerform(_ request: Request) async { counter.hear(request) }
}

/// A listener that lets others go first.
final class YieldingListener: AsyncListener {
  private let counter: BurstCounter

  /// Makes one.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) { counter = BurstCounter(burst: burst, end: end) }

  func didPerform(_ request: Request) async {
    await Task.yield()
    counter.hear(request)
  }
}

/// A listener that waits for something else.
final class SleepingListener: AsyncListener {
  private let counter: BurstCounter

  /// Makes one.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) { counter = BurstCounter(burst: burst, end: end) }

  func didPerform(_ request: Request) async {
    // Nobody cancels it: were it cut short, the burst would end all the same.
    try? await Task.sleep(for: .milliseconds(5))
    counter.hear(request)
  }
}

/// A listener with state of its own, which costs a hop.
actor ActorListener: AsyncListener {
  private let counter: BurstCounter
  private var heard = 0

  /// Makes one.
  ///
  /// - Parameters:
  ///   - burst: how many notifications make a burst.
  ///   - end: what is told at the end of each.
  init(burst: Int, end: Countdown) { counter = BurstCounter(burst: burst, end: end) }

  func didPerform(_ request: Request) {
    heard += 1
    counter.hear(request)
  }
}
