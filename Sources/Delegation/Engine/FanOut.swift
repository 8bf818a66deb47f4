/// The delivery of pending notifications to many subscriptions.
///
/// *Workers* claim subscriptions from a shared cursor, one at a time and in order, and run the handlers of each in
/// place. While a subscription is unclaimed, one worker has been requested and has claimed nothing: the
/// *standby*. A worker that starts with more than one subscription left requests the next before it
/// claims, unless another one is requesting, which then requests again. So a handler that suspends, or
/// blocks its thread, does not delay the others, and the number of tasks grows with suspensions, not with
/// subscribers.
final class FanOut: Sendable {
  typealias Claim = Cursor.Claim

  let workplace: any Workplace
  /// The workplace's.
  let activity: Activity
  let slowWatch: SlowWatch?
  /// That of all its workers, which is higher than the default if a caller waits for what they deliver.
  let priority = Task.currentPriority
  let cursor: Lock<Cursor>

  /// Makes a fan-out of pending notifications.
  init(delivering nodes: consuming [SubscriptionNode], for workplace: any Workplace) {
    self.workplace = workplace
    activity = workplace.activity
    slowWatch = workplace.slowWatch
    cursor = Lock(Cursor(nodes))
  }

  /// Requests one more worker.
  ///
  /// Its task is detached: handlers of notifications do not inherit the poster's task-locals.
  func requestWorker() {
    activity.begin()
    // Not by `startDetached`: its closure would be one allocation more for each suspension.
    if let executor = workplace.executor {
      Task.detached(executorPreference: executor, priority: priority) {
        await self.workAsStandby()
        self.activity.end()
      }
    } else {
      Task.detached(priority: priority) {
        await self.workAsStandby()
        self.activity.end()
      }
    }
  }

  /// Claims the next subscription; `nil` if none is left.
  func claim() -> Claim? {
    guard let claim = cursor.withLock({ $0.claim() }) else { return nil }
    if claim.isLast { releaseRest() }
    return claim
  }

  private func releaseRest() {
    let rest = cursor.withLock { $0.release() }
    withExtendedLifetime(rest) {}
  }

  /// Runs one worker, after requesting the next standby.
  nonisolated(nonsending) func workAsStandby() async {
    cursor.provideForSuccessor { requestWorker() }
    if let first = claim() { await deliver(from: first) }
  }
}
