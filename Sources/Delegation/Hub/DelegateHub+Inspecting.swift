/// What a hub reports of its subscribers, work and counts, and how it waits for them.
extension DelegateHub {
  /// Waits until the hub is idle, so that no notification waits and no handler runs, or until a deadline.
  ///
  /// It also waits for what handlers and other tasks post meanwhile, for handlers that still run after their vote was
  /// decided, and for closures in ``delayingDrain(fileID:line:_:)``. Without a deadline, it never returns if the hub is
  /// never idle.
  ///
  /// **Order.** It waits for all that synchronous calls of the same thread have posted before.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler, it waits neither for that handler and the notifications behind it, nor for
  /// handlers that wait themselves, nor, in a voter, for the handler that asks; it returns them as left. The same holds
  /// in a closure of ``delayingDrain(fileID:line:_:)``.
  ///
  /// A `Task` that a handler has started counts as the handler, which might await the task. A `Task.detached` does not,
  /// nor does a `Task` that was started by a synchronous handler of a notification or of a question that is asked in a
  /// loop: a drain in these tasks waits for the handler. In a `Task` that a voter started and nobody awaits, a drain
  /// may not wait for voters of that question that are asked later.
  ///
  /// **Lifetime.** A hub that you release after a drain may die a moment later.
  ///
  /// **Cancellation.** If the caller's task is cancelled it returns at once with what is left.
  ///
  /// ```swift
  /// let left = await hub.drain(within: .seconds(5))
  /// if !left.isEmpty { logger.warning("shutting down with work left: \(left)") }
  /// ```
  ///
  /// - Parameter duration: how long to wait at most, by the hub's clock; `nil` for no limit. With zero or
  ///   less it does not wait.
  /// - Returns: which subscribers had work left when it returned, and how much work the hub had itself; empty only if
  ///   the hub was idle.
  /// - Complexity: O(1), and O(*n* log *n*) in the hub's *n* subscriptions if anything was left; in a handler also
  ///   O(*w*) in the *w* handlers of the hub that wait.
  @discardableResult
  public nonisolated func drain(within duration: Duration? = nil) async -> Leftovers {
    let isIdle = await WaitGoal.rest(of: core).wait(until: deadline(within: duration))
    // If the count is 0, the hub has become idle since the wait ended.
    let workers = isIdle ? 0 : core.workers.value
    if workers == 0 { return Leftovers(subscribers: []) }
    let delays = core.delays.withLock { $0.values.map { "\($0.file):\($0.line)" } }
    let left = core.topics.all.flatMap { $0.overview().nodes }.compactMap {
      Leftovers.Subscriber(leftOf: $0)
    }
    // Read again: subscribers whose work ended since the first reading are not named, and that work is not the hub's
    // own.
    let present = min(workers, core.workers.value)
    // Each subscriber left accounts for as many workers as it has running handlers, or for one. All other workers are
    // delays or the hub's own work.
    let explained = left.reduce(delays.count) { $0 + max(1, $1.running) }
    return Leftovers(
      subscribers: left, delaySites: delays.sorted(), ownWork: max(0, present - explained))
  }

  /// What has become of the notifications and questions so far, per protocol and subscriber.
  ///
  /// It copies only numbers, so metrics may read it every second.
  ///
  /// **Order.** It includes what synchronous calls of the same thread have done before.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// - Returns: the counts at the moment of the call.
  /// - Complexity: O(*n*) in the hub's *n* subscriptions, or O(*n* log *n*) if any has begun or ended since the last
  ///   call.
  public nonisolated func statistics() -> Statistics {
    let protocols = core.topics.all.map { Statistics.ProtocolStatistics($0) }
    return Statistics(protocols: protocols.sorted { $0.name < $1.name })
  }

  @usableFromInline
  nonisolated func deadline(within duration: Duration?) -> Deadline? {
    if let duration { core.deadlines.deadline(after: duration) } else { nil }
  }
}

extension DelegateHub {
  /// Runs a closure that ``drain(within:)`` waits for, as for a handler.
  ///
  /// For work that calls the hub from outside of handlers.
  ///
  /// **Order.** A drain that begins after this call waits for its end; so does one that began before, if the hub has
  /// not been idle since.
  ///
  /// **Isolation.** The closure runs in the caller's task, on the caller's actor. Works from every handler.
  ///
  /// **Re-entrancy.** A drain that is called from the closure, from a task that it starts, or from a handler of a call
  /// that it awaits, does not wait for the closure. If two closures drain, neither waits for the other. But in a task
  /// that the closure awaits, a drain never returns if the task is detached, or was started by a handler or by another
  /// closure that delays the drain.
  ///
  /// **Cancellation.** The call itself ignores cancellation.
  ///
  /// ```swift
  /// try await hub.delayingDrain {
  ///   let response = try await answer(request)
  ///   hub[RequestObserver.self].notify { $0.server(server, didAnswer: request) }
  ///   try await connection.send(response)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - fileID: the source file that calls, which the leftovers of a drain name.
  ///   - line: the line that calls.
  ///   - body: what to do.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws, with its type.
  /// - Complexity: O(1), apart from the closure.
  public nonisolated(nonsending) func delayingDrain<R, E>(
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    let worker = beginAsking()
    core.delays.withLock { $0[ObjectIdentifier(worker)] = (fileID, line) }
    defer {
      worker.end()
      core.delays.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(worker)) }
      endAsking(worker)
    }
    let context = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    return try await call(body, in: context, on: #isolation).get()
  }

  private func call<R, E>(
    _ body: nonisolated(nonsending) () async throws(E) -> R, in context: HandlerContext,
    on actor: isolated (any Actor)?
  ) async -> Result<R, E> {
    await HandlerContext.binding.withValue(context) {
      _ = actor  // So the closure runs there, and not where it likes.
      do throws(E) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
  }
}

extension DelegateHub {
  /// The work that was left when ``drain(within:)``, `notifyAndWait`,
  /// ``Subscription/cancelAndWait(within:)`` or ``unsubscribeAndWait(_:within:)`` returned.
  public struct Leftovers: Sendable, CustomStringConvertible {
    /// A subscriber with work left.
    public typealias Subscriber = Statistics.SubscriberStatistics

    /// The subscribers with work left, protocol by protocol, in the order in which they are served.
    public let subscribers: [Subscriber]

    /// The source lines of the closures that delay the drain, sorted.
    var delaySites: [String] = []

    /// How many closures that delay a drain were running; see ``DelegateHub/delayingDrain(fileID:line:_:)``.
    public var delays: Int { delaySites.count }

    /// How many of the hub's workers serve no subscriber: those of questions that have not reached one, and of
    /// incidents.
    ///
    /// In an ``Outcome``, how many subscribers are left and not named.
    var ownWork = 0

    /// Whether nothing was left.
    public var isEmpty: Bool { subscribers.isEmpty && delays == 0 && ownWork == 0 }

    /// One line for each subscriber with work left, then one for closures that delay a drain, and one for the hub's own
    /// work.
    public var description: String {
      if isEmpty { return "nothing left" }
      var lines = subscribers.map {
        "\($0.subscriber), subscribed at \($0.site): \($0.running) running, \($0.waiting) waiting"
      }
      if delays > 0 {
        let sites = Set(delaySites).sorted().joined(separator: ", ")
        lines.append("delaying the drain: \(delays), begun at \(sites)")
      }
      if ownWork > 0 { lines.append("the hub's own work: \(ownWork)") }
      return lines.joined(separator: "\n")
    }
  }
}

extension DelegateHub {
  /// What has become of a notification when `notifyAndWait` returned.
  ///
  /// Each subscriber to which the notification was addressed is counted once: as *handled*, *failed* or *missed*. The
  /// three add up to ``addressed``, unless the call has returned early: because of a window (`leaving:`), a deadline or
  /// a cancellation, or because a handler made it.
  ///
  /// ```swift
  /// let outcome = await entries.notifyAndWait { try await $0.write(entry) }
  /// if !outcome.isHandled { logger.error("not written: \(outcome)") }
  /// ```
  public struct Outcome: Sendable, CustomStringConvertible {
    /// How many subscribers the notification was addressed to; with ``Delegates/conforming(to:)``, those that conform.
    ///
    /// Whether a subscriber conforms is found in its turn; until then the subscriber is included.
    public let addressed: Int
    /// How many handlers have returned.
    public let handled: Int
    /// How many handlers have thrown.
    public let failed: Int
    /// How many subscribers will never handle the notification: they died or were removed before their turn, their
    /// mailboxes dropped it, or an interceptor stopped it.
    public let missed: Int
    /// If the call returned early, the subscribers that had not finished with the awaited notification; otherwise
    /// empty.
    ///
    /// With `leaving:`, a call awaits an earlier notification than it posts.
    public let left: Leftovers

    /// Whether there were subscribers, and all have handled the notification.
    public var isHandled: Bool { addressed > 0 && handled == addressed }

    /// The counts by name, and the subscribers that were left, if any.
    public var description: String {
      let counts = "addressed \(addressed), handled \(handled), failed \(failed), missed \(missed)"
      return left.isEmpty ? counts : "\(counts); \(left)"
    }

    /// The outcome of a receipt's notification; `left` seemed not to have finished with that of `awaited`.
    init(_ receipt: Receipt, left: [Leftovers.Subscriber] = [], of awaited: Receipt? = nil) {
      // Read first, because `addressed` may fall: the counts read later never add up to more.
      addressed = receipt.addressed.load(ordering: .sequentiallyConsistent)
      handled = receipt.handled.load(ordering: .relaxed)
      failed = receipt.failed.load(ordering: .relaxed)
      missed = receipt.missed.load(ordering: .relaxed)
      // From the counts: `left` may lack a subscriber that the counts do not have yet, or name one that they have
      // since.
      let rest =
        awaited === receipt
        ? addressed - handled - failed - missed : awaited?.outstanding.value ?? 0
      self.left = Leftovers(subscribers: rest > 0 ? left : [], ownWork: max(0, rest - left.count))
    }
  }
}
