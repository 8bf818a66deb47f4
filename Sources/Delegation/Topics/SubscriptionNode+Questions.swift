internal import Synchronization

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
      didCountOff(
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
    didCountOff(word)
  }

  private func didCountOff(_ word: UInt64) {
    if word & (Bits.awaited | Bits.terminated) != 0 { noteEnd(word) }
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
