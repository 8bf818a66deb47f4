public import Synchronization

extension SubscriptionNode {
  /// Counts a question as running, if it may begin; a stream passes it over.
  @inlinable
  func beginCall() -> Bool {
    let word = countCall()
    return word & Bits.special == 0 || goOnWithCall(since: word)
  }

  /// Counts a question as asked and running.
  ///
  /// - Returns: `state` before that.
  @inlinable
  @inline(__always)
  func countCall() -> UInt64 {
    state.wrappingAdd(Bits.call | Bits.asked, ordering: .sequentiallyConsistent).oldValue
  }

  /// Notes that a running question was answered.
  @inlinable
  func endCall() {
    let word = state.wrappingSubtract(Bits.call, ordering: .sequentiallyConsistent).newValue
    if word & (Bits.awaited | Bits.terminated) != 0 { noteEnd(word) }
  }

  /// Settles an ended subscription after the end of a handler, and resumes the tasks that wait for its handlers.
  @inline(never)
  @usableFromInline
  func noteEnd(_ word: UInt64) {
    if word & Bits.terminated != 0 { settle() }
    if word & Bits.awaited != 0 { topic.updateWaiters(for: self) }
  }

  /// How many of this subscription's handlers are running, or about to run.
  var runningCalls: Int {
    let asked = Int(state.load(ordering: .sequentiallyConsistent) / Bits.call)
    return asked + contents.withLock { $0.mailbox.isHandling ? 1 : 0 }
  }

  /// Sets or clears the bit ``Bits/awaited``, which has the end of each handler resume waiting tasks.
  ///
  /// Called under the lock of the topic's waiters.
  func setAwaited(_ isAwaited: Bool) {
    if isAwaited {
      state.bitwiseOr(Bits.awaited, ordering: .sequentiallyConsistent)
    } else {
      state.bitwiseAnd(~Bits.awaited, ordering: .sequentiallyConsistent)
    }
  }
}

/// How a call reaches the subscriber.
extension SubscriptionNode {
  /// The subscriber, for a question; `nil` if it is not among the recipients, or has died, which terminates the
  /// subscription.
  @_alwaysEmitIntoClient @inline(__always)
  func subscriber<P>(in recipients: Recipients<P>, for call: CallKind) -> P? {
    if let subscriber = recipients.load(reference) {
      noteCalled()
      return subscriber
    }
    _ = object(for: call)
    return nil
  }

  @inlinable
  var hasExecutor: Bool { state.load(ordering: .relaxed) & Bits.hasExecutor != 0 }

  var executor: (any TaskExecutor)? {
    // Most subscriptions have none, and need no lock to say so.
    hasExecutor ? contents.withLock { $0.options?.executor } : nil
  }

  /// Calls the subscriber on the current thread, if its subscription is open, and counts a call that returns as
  /// answered.
  ///
  /// - Returns: what the closure returned; `nil` if nobody was called.
  @_alwaysEmitIntoClient @inline(__always)
  func call<P, R, E>(
    in recipients: Recipients<P>, for call: CallKind,
    _ body: (P) throws(E) -> R
  ) throws(E) -> R? {
    guard beginCall() else { return nil }
    guard let subscriber = subscriber(in: recipients, for: call) else {
      endCall(as: .unasked)
      return nil
    }
    do throws(E) {
      let response = try body(subscriber)
      endCall()
      return response
    } catch {
      endFailedCall()
      throw error
    }
  }
}

extension SubscriptionNode {
  /// The subscriber; `nil` if it has died, which terminates the subscription.
  ///
  /// Must not be called under a lock.
  @usableFromInline
  func object(for call: CallKind?) -> AnyObject? {
    let object = reference.living
    if object == nil { terminate(as: .expired, in: call) }
    return object
  }

  /// Whether a question would reach a live subscriber that conforms, by `admits` (`nil` for all): this subscription's,
  /// or its replacement's.
  ///
  /// If the subscriber has died, its subscription ends as expired. Must not be called under a lock.
  @usableFromInline
  func isReached(by admits: RecipientFilter?, endingIn call: CallKind?) -> Bool {
    guard let object = current?.object(for: call) else { return false }
    return admits?(object) ?? true
  }
}

extension Recipients {
  /// Calls a recipient with a notification's closure; returns the notification's fate.
  @usableFromInline
  func tell(
    _ reference: borrowing WeakReference, _ body: (P) throws -> Void
  ) throws -> Notification.Fate {
    guard let subscriber = load(reference) else { return absence(of: reference) }
    try body(subscriber)
    return .handled
  }

  /// The fate of a notification when ``load(_:)`` gave `nil`: the subscriber died, or does not conform.
  @inlinable
  func absence(of reference: borrowing WeakReference) -> Notification.Fate {
    admits != nil && reference.isAlive ? .notAddressed : .expired
  }
}

/// A subscriber that the library makes, with the name that statistics and incidents show.
protocol NamedSubscriber: AnyObject { static var name: String { get } }

extension SubscriptionNode {
  /// The subscriber's name, for people: its type and its id, if one was given.
  func name(with id: Identity?) -> String {
    let type = (site.type as? any NamedSubscriber.Type)?.name ?? Topic.name(of: site.type)
    return id.map { "\(type) (\($0))" } ?? type
  }

  /// Reports an incident of this subscription.
  ///
  /// Takes the lock of the contents; must not be called under a lock.
  func report(
    _ kind: DelegateHub.Incident.Kind, in call: CallKind, error: (any Error)? = nil,
    dropped: Int = 0, present: Int = 0, needed: Int = 0, since start: Duration? = nil,
    context: TaskLocalPropagation.Context? = nil, with id: Identity? = nil
  ) {
    topic.owner?.report(
      .init(
        kind: kind, call: call, error: error, dropped: dropped, present: present, needed: needed,
        subscription: .init(node: self), start: start, context: context, id: id ?? self.id))
  }

  /// Notes the subscriber's first call; later ones only load `state`.
  @inlinable
  @inline(__always)
  func noteCalled() { if state.load(ordering: .relaxed) & Bits.called == 0 { noteFirstCall() } }

  @inline(never)
  @usableFromInline
  func noteFirstCall() {
    state.bitwiseOr(Bits.called, ordering: .relaxed)
    site.isCalled.store(true, ordering: .relaxed)
  }
}

/// How the questions to a subscription are counted.
///
/// One addition to `state` counts a new call both as asked and as running. The call's end subtracts it from the running
/// ones; a call that was asked and no longer runs counts as answered. A call that failed, was abandoned or was late is
/// moved to its own count in `corrections`, in the section of the contents' lock that ends it. So a reader under that
/// lock sees each question exactly once.
extension SubscriptionNode {
  /// What became of the questions to this subscription.
  var questions: QuestionAccount { contents.withLock(questions) }

  /// As `questions`; called under the lock of the contents.
  func questions(_ contents: inout Contents) -> QuestionAccount {
    let word = state.load(ordering: .sequentiallyConsistent)
    var account = contents.corrections.first ?? QuestionAccount()
    let running = Int(word / Bits.call)
    account.answering += running
    account.answered += Int((word % Bits.call) / Bits.asked) - running
    return account
  }

  /// Whether a counted call may begin though `word`, `state` before the call was counted, has ``Bits/special`` bits; if
  /// not, the call is no longer counted.
  @usableFromInline
  func goOnWithCall(since word: UInt64) -> Bool {
    if mayBegin(in: word) { return true }
    endCall(as: .unasked)
    return false
  }

  /// Whether a counted call may begin; a stream passes it over.
  func mayBegin() -> Bool {
    let word = state.load(ordering: .sequentiallyConsistent)
    return word & Bits.special == 0 || mayBegin(in: word)
  }

  private func mayBegin(in word: UInt64) -> Bool {
    if word & Bits.terminated != 0 { return false }
    if word & Bits.stream != 0 {
      // The mailbox counts first: otherwise statistics read between the two sections would show a waiting notification.
      contents.withLock { $0.mailbox.passOverQuestion() }
      topic.state.withLock { $0.addQuestion() }
      return false
    }
    makeRoom()
    return true
  }

  /// Moves a part of the asked questions' count from `state` to `corrections`, if it is ``Bits/full``.
  ///
  /// Not inlined, because it is rare: its code would make each call dearer.
  @inline(never)
  private func makeRoom() {
    correct { account in
      // The rest stays in `state`, from which a running call that turns out not to have been asked is subtracted.
      let some = Bits.full / 2
      guard state.load(ordering: .relaxed) & Bits.full != 0 else { return }
      state.wrappingSubtract(some, ordering: .relaxed)
      account.answered += Int(some / Bits.asked)
    }
  }

  private func correct<Result: Sendable>(_ body: (inout QuestionAccount) -> Result) -> Result {
    contents.withLock { contents in
      if contents.corrections.isEmpty { contents.corrections = [QuestionAccount()] }
      return body(&contents.corrections[0])
    }
  }

  /// Notes how a call has ended.
  @usableFromInline
  func endCall(as end: CallEnd) {
    switch end {
    case .answered: endCall()
    case .failed: countOff { $0.failed += 1 }
    case .abandoned: countOff { $0.abandoned += 1 }
    case .late: countOff { $0.late += 1 }
    case .unasked:
      noteEnd(
        state.wrappingSubtract(Bits.call | Bits.asked, ordering: .sequentiallyConsistent).newValue)
    }
  }

  /// Notes how a call has ended, and reports what its handler threw, if `failure` is given.
  @inline(never)
  func endCall(as end: CallEnd, throwing failure: (any Error)?, in call: CallKind) {
    // Reported first: the end of an ended subscription's last call releases the id.
    if let failure { report(.failed, in: call, error: failure) }
    endCall(as: end)
  }

  private func countOff(_ note: (inout QuestionAccount) -> Void) {
    let word = correct { account in
      note(&account)
      account.answered -= 1
      return state.wrappingSubtract(Bits.call, ordering: .sequentiallyConsistent).newValue
    }
    noteEnd(word)
  }

  /// Whether a subscriber that had not answered at the deadline is late; if so, reports an incident.
  ///
  /// A stream, an ended subscription, and a subscriber that is dead or does not conform, are not late. A dead
  /// subscriber's subscription is not ended here: that could take long.
  ///
  /// - Parameters:
  ///   - admits: whether a subscriber conforms; `nil` for all.
  ///   - call: the kind of call.
  ///   - start: when the question began; `nil` if nothing is to be reported.
  ///   - begun: the subscriptions whose handlers have begun; only incidents of these have a duration.
  /// - Returns: whether the subscriber is late.
  @usableFromInline
  func isLate(
    admittedBy admits: RecipientFilter?, in call: CallKind, notingSince start: Duration?,
    if begun: Set<UInt>
  ) -> Bool {
    // Read before `state`: the end of a subscription may release its id.
    let (id, hasBegun) = (id, begun.contains(identityBits))
    let word = state.load(ordering: .sequentiallyConsistent)
    guard word & (Bits.terminated | Bits.stream) == 0, let object = reference.living,
      admits?(object) ?? true
    else { return false }
    if let start { report(.late, in: call, since: hasBegun ? start : nil, with: id) }
    return true
  }
}

/// How a question to one subscriber ends.
@usableFromInline
enum CallEnd: UInt8, Sendable {
  case answered = 0
  case failed
  case abandoned
  /// The handler ended after the deadline.
  case late
  /// The subscriber was not asked: it was gone, or does not conform.
  case unasked
}
