public import Synchronization

/// How calls of a subscription are counted: begun, ended, and waited for.
extension SubscriptionNode {
  /// Counts a running question, unless none may start.
  @inlinable
  func beginCall() -> Bool {
    let word = countCall()
    return word & Bits.special == 0 || goOnWithCall(since: word)
  }

  /// Counts a running question.
  ///
  /// - Returns: the state before.
  @inlinable
  @inline(__always)
  func countCall() -> UInt64 {
    state.wrappingAdd(Bits.call | Bits.asked, ordering: .sequentiallyConsistent).oldValue
  }

  /// Counts off a question that was answered.
  @inlinable
  func endCall() {
    let word = state.wrappingSubtract(Bits.call, ordering: .sequentiallyConsistent).newValue
    if word & (Bits.awaited | Bits.terminated) != 0 { noteEnd(word) }
  }

  /// Does what follows the end of a handler, if the subscription has ended or somebody waits for that.
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

  /// Sets or clears `awaited`, by which the ends of handlers resume waiters.
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
  /// The subscriber, for a question.
  ///
  /// - Returns: `nil` if it is not in the recipients, or if it has died, which terminates the subscription.
  @_alwaysEmitIntoClient @inline(__always)
  func subscriber<P>(in recipients: Recipients<P>, for call: CallKind) -> P? {
    if let subscriber = recipients.load(reference) {
      noteCalled()
      return subscriber
    }
    _ = object(for: call)
    return nil
  }

  /// Calls the subscriber on the current thread, if its subscription is open, and counts that as an answer.
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

/// How a subscription reaches its subscriber.
extension SubscriptionNode {
  /// The subscriber.
  ///
  /// Must not be called under a lock.
  ///
  /// - Parameter call: the call that looks, if one does.
  /// - Returns: `nil` if it has died, which terminates the subscription.
  @usableFromInline
  func object(for call: CallKind?) -> AnyObject? {
    let object = reference.living
    if object == nil { terminate(as: .expired, in: call) }
    return object
  }

  /// Whether a question would reach the subscriber, or that of a replacement: calls may start, it is alive, and it conforms.
  ///
  /// If it has died, the subscription ends as expired. Must not be called under a lock.
  ///
  /// - Parameters:
  ///   - admits: whether an object conforms to further protocols; `nil` for none.
  ///   - call: the call that looks, if one does.
  /// - Returns: whether it would.
  @usableFromInline
  func isReached(by admits: RecipientFilter?, endingIn call: CallKind?) -> Bool {
    guard let object = current?.object(for: call) else { return false }
    return admits?(object) ?? true
  }
}

/// A subscriber of the library's own, with the name that statistics and incidents have for it.
protocol NamedSubscriber: AnyObject {
  static var name: String { get }
}

/// What a subscription reports of its subscriber.
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
    dropped: Int = 0, since start: Duration? = nil,
    context: TaskLocalPropagation.Context? = nil, with id: Identity? = nil
  ) {
    topic.owner?.report(
      .init(
        kind: kind, call: call, error: error, dropped: dropped,
        subscription: .init(node: self), start: start, context: context,
        id: id ?? self.id))
  }

  /// Notes that the handler of a notification is about to be called with the subscriber, if that is alive; one that is
  /// deferred is not, until it begins.
  func noteCalled(by reference: borrowing WeakReference) {
    if state.load(ordering: .relaxed) & Bits.called == 0, reference.isAlive { noteFirstCall() }
  }

  /// Notes that the subscriber is called.
  ///
  /// Except for the first time, it only loads the state.
  @inlinable
  @inline(__always)
  func noteCalled() {
    if state.load(ordering: .relaxed) & Bits.called == 0 { noteFirstCall() }
  }

  @inline(never)
  @usableFromInline
  func noteFirstCall() {
    state.bitwiseOr(Bits.called, ordering: .relaxed)
    site.isCalled.store(true, ordering: .relaxed)
  }

  /// Reports a subscriber that was found dead, if no call reached it, nor any other one that the same line of the
  /// source has subscribed.
  ///
  /// - Parameters:
  ///   - call: a call that was made.
  ///   - id: its id, if one was given.
  func reportIfUnheard(in call: CallKind, id: Identity?) {
    if state.load(ordering: .relaxed) & Bits.called == 0, !site.isCalled.load(ordering: .relaxed) {
      report(.unheard, in: call, with: id)
    }
  }
}

/// What is counted of the questions that a subscription was asked.
///
/// A call that begins counts as asked and as running, by one addition to `state`. One that is answered needs only be
/// counted off: those that were asked and do not run count as answered. Every other end is noted in `corrections`, under
/// the lock of the contents, where it is counted off as well. So who reads all under that lock finds each question once.
extension SubscriptionNode {
  /// What became of the questions so far.
  var questions: QuestionAccount { contents.withLock(questions) }

  /// Called under the lock of the contents.
  func questions(_ contents: inout Contents) -> QuestionAccount {
    let word = state.load(ordering: .sequentiallyConsistent)
    var account = contents.corrections.first ?? QuestionAccount()
    let running = Int(word / Bits.call)
    account.answering += running
    account.answered += Int((word % Bits.call) / Bits.asked) - running
    return account
  }

  /// Goes on with a call that was counted, when there is something to be done about it.
  ///
  /// - Parameter word: the state before.
  /// - Returns: whether it may begin; if not, it was counted off.
  @usableFromInline
  func goOnWithCall(since word: UInt64) -> Bool {
    if mayBegin(in: word) { return true }
    endCall(as: .unasked)
    return false
  }

  /// Whether a call that was counted may begin.
  func mayBegin() -> Bool {
    let word = state.load(ordering: .sequentiallyConsistent)
    return word & Bits.special == 0 || mayBegin(in: word)
  }

  private func mayBegin(in word: UInt64) -> Bool {
    if word & Bits.terminated != 0 { return false }
    if word & Bits.stream != 0 {
      // In this order: statistics read first what was addressed, and nothing is to seem to wait.
      contents.withLock { $0.mailbox.passOverQuestion() }
      topic.state.withLock { $0.addQuestion() }
      return false
    }
    makeRoom()
    return true
  }

  /// Counts some of those that were asked elsewhere than in `state`.
  ///
  /// Not inlined: that would make each call dearer.
  @inline(never)
  private func makeRoom() {
    correct { account in
      // Not all: those that run may yet turn out not to have been asked.
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

  /// Counts off a call.
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

  /// Counts off a call, and tells what its handler threw, if that is to be told.
  @inline(never)
  func endCall(as end: CallEnd, throwing failure: (any Error)?, in call: CallKind) {
    // First: if the subscription has ended, its id is released with its last call.
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

  /// Whether a subscriber that had not answered at a question's deadline is late: not if it is gone, or does not conform.
  ///
  /// One that has died is not terminated here, which may take its time: the caller is to go on.
  ///
  /// - Parameters:
  ///   - admits: whether one conforms; `nil` for all.
  ///   - call: the kind of call.
  ///   - start: when the question began, if that it is late is to be reported.
  ///   - begun: the subscriptions whose handlers the question runs: others have not been running for its sake.
  /// - Returns: whether it is.
  @usableFromInline
  func isLate(
    admittedBy admits: RecipientFilter?, in call: CallKind, notingSince start: Duration?,
    if begun: Set<UInt>
  ) -> Bool {
    // Read first: one that has not ended afterwards had it.
    let (id, hasBegun) = (id, begun.contains(identityBits))
    let word = state.load(ordering: .sequentiallyConsistent)
    guard word & (Bits.terminated | Bits.stream) == 0, let object = reference.living,
      admits?(object) ?? true
    else { return false }
    if let start { report(.late, in: call, since: hasBegun ? start : nil, with: id) }
    return true
  }
}

/// How a call of a question's handler ends.
@usableFromInline
enum CallEnd: UInt8, Sendable {
  case answered = 0
  case failed
  case abandoned
  /// It ended after its deadline.
  case late
  /// Its subscriber was gone, or does not conform: it was not asked.
  case unasked
}
