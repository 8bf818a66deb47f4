/// How one subscriber is asked, and what counts if that subscriber throws or is late.
///
/// A type and not a closure, so that `answer` is inlined into the workers' loop: a closure would be one more level of
/// asynchronous calls, which costs 600 instructions a voter. Each conforming type awaits the user's closure itself: in
/// a shared function, even an inlined one, each call would make the task look for its executor.
@usableFromInline
protocol Asking<Response, Failure>: Sendable {
  associatedtype P
  associatedtype Response: Sendable
  associatedtype Failure: Error

  var recipients: Recipients<P> { get }
  var call: CallKind { get }
  /// What counts for a subscriber that throws or is late; `nil` if an error fails the call.
  var late: Answer<Response, Failure>.Late? { get }

  /// Asks one subscriber, and returns what it contributes.
  ///
  /// The question may be decided while the closure's actor is busy; it is `nil` without a ``Question``.
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure>
}

extension Answer {
  /// What counts for a subscriber that throws or is late, made from its subscription.
  ///
  /// A closure: a generic value would be laid out at run time, by code of its own for each type.
  @usableFromInline typealias Late = @Sendable (SubscriptionNode) -> Self
}

/// How a closure that awaits asks a subscriber.
@frozen @usableFromInline
struct AskingForResponse<P, Response: Sendable, Failure: Error>: Asking {
  @usableFromInline let recipients: Recipients<P>
  @usableFromInline let call: CallKind
  @usableFromInline let late: Answer<Response, Failure>.Late?
  @usableFromInline
  let body: nonisolated(nonsending) @Sendable (P) async throws(Failure) -> Response

  @inlinable
  init(
    _ recipients: Recipients<P>, in call: CallKind,
    absent absence: DelegateHub.Absence<Response>? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(Failure) -> Response
  ) {
    (self.recipients, self.call, self.body, late) = (recipients, call, body, absence?.late())
  }

  @_alwaysEmitIntoClient @inline(__always)
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure>
  {
    guard let subscriber = node.subscriber(in: recipients, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try await body(subscriber))
    } catch {
      return node.failure(error, absent: late)
    }
  }
}

/// How a closure that awaits asks a voter.
///
/// A type of its own, whose closure returns `Bool`: with a generic result, a thunk would be one more level of
/// asynchronous calls, which costs 80 instructions a voter.
@frozen @usableFromInline
struct AskingForVote<P, Failure: Error>: Asking {
  @usableFromInline let recipients: Recipients<P>
  @usableFromInline let late: Answer<Bool, Failure>.Late?
  @usableFromInline let body: nonisolated(nonsending) @Sendable (P) async throws(Failure) -> Bool

  @inlinable
  init(
    _ recipients: Recipients<P>, absent absence: DelegateHub.Absence<Bool>? = nil,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(Failure) -> Bool
  ) {
    (self.recipients, self.body, late) = (recipients, body, absence?.late())
  }

  @inlinable
  var call: CallKind { .vote }

  @_alwaysEmitIntoClient @inline(__always)
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Bool, Failure> {
    guard let subscriber = node.subscriber(in: recipients, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try await body(subscriber))
    } catch {
      return node.failure(error, absent: late)
    }
  }
}

/// One turn of `pass`: a subscriber is asked with the value so far.
///
/// A type of its own, which has the value: a closure that captures the value would be one more allocation a subscriber.
@frozen @usableFromInline
struct AskingToPass<P, Value: Sendable, Failure: Error>: Asking {
  @usableFromInline typealias Body =
    nonisolated(nonsending) @Sendable (P, Value) async throws(Failure) -> Value?
  @usableFromInline let value: Value
  @usableFromInline let recipients: Recipients<P>
  @usableFromInline let late: Answer<Value?, Failure>.Late?
  @usableFromInline let body: Body

  @inlinable
  init(
    _ value: Value, to recipients: Recipients<P>,
    absent absence: DelegateHub.Absence<Value?>? = nil, _ body: @escaping Body
  ) {
    (self.value, self.recipients, self.body, late) = (value, recipients, body, absence?.late())
  }

  @inlinable
  var call: CallKind { .pass }

  @_alwaysEmitIntoClient @inline(__always)
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Value?, Failure> {
    guard let subscriber = node.subscriber(in: recipients, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try await body(subscriber, value))
    } catch {
      return node.failure(error, absent: late)
    }
  }
}

/// How `collect` asks a subscriber: what the subscriber answers or throws becomes a ``DelegateHub/Reply``.
@frozen @usableFromInline
struct AskingForReply<Inner: Asking>: Asking {
  @usableFromInline let inner: Inner

  @inlinable
  init(_ inner: Inner) { self.inner = inner }

  @_alwaysEmitIntoClient @inline(__always)
  func answer(
    of node: SubscriptionNode, in question: Question?
  ) async -> Answer<DelegateHub.Reply<Inner.Response>, Never> {
    switch await inner.answer(of: node, in: question) {
    case .response(let response), .substitute(let response):
      .response(.init(of: node, result: .success(response)))
    case .failure(let error): .response(.init(of: node, result: .failure(error)))
    case .absence: .absence
    }
  }

  @inlinable
  var recipients: Recipients<Inner.P> { inner.recipients }
  @inlinable
  var call: CallKind { .collect }
  @inlinable
  var late: Answer<DelegateHub.Reply<Inner.Response>, Never>.Late? {
    { .response(.init(of: $0, result: .failure(DelegateHub.ReplyError.timedOut))) }
  }
}

extension SubscriptionNode {
  /// Notes that the subscriber was not asked, and returns its answer: an absence.
  @inlinable
  func absence<Response, E>() -> Answer<Response, E> {
    HandlerContext.note(.unasked)
    return .absence
  }

  /// Notes a handler's error, and returns what its subscriber contributes: what `late` makes, or the error, which fails
  /// the call, if `late` is `nil`.
  @inlinable
  func failure<Response, E>(
    _ error: E, absent late: Answer<Response, E>.Late?
  ) -> Answer<Response, E> {
    noteFailure(error, isIncident: late != nil)
    return late?(self) ?? .failure(error)
  }
}

extension DelegateHub.Absence {
  @inlinable
  func late<E>() -> Answer<Response, E>.Late {
    { _ in substitute.map(Answer.substitute) ?? .absence }
  }
}

extension DelegateHub {
  /// One subscriber's own result of `collect`.
  public struct Reply<Value: Sendable>: Sendable {
    private let id: Identity?
    /// The subscriber's type, and its id if it has one; the text is made anew at each read.
    public var subscriber: String { subscription.node.name(with: id) }
    /// The subscription through which the subscriber was asked.
    public let subscription: Subscription
    /// What the handler returned or threw; ``ReplyError/timedOut`` if the subscriber, or one that it had replaced, had
    /// not answered at the deadline.
    public let result: Result<Value, any Error>

    @usableFromInline
    init(of node: SubscriptionNode, result: Result<Value, any Error>) {
      (id, subscription, self.result) = (node.id, Subscription(node: node), result)
    }
  }

  /// Why a subscriber has no result: it was late, or a stream refused an event.
  public struct ReplyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The subscriber had not answered at the deadline.
    public static let timedOut = Self(
      description: "the subscriber had not answered at the deadline")

    /// What went wrong, in words.
    public let description: String
  }
}

/// How a closure that awaits nothing asks subscribers.
///
/// A type and not a closure, so that the compiler does not copy the asking code for each user's closure.
@frozen @usableFromInline
struct AskingInLoop<P, Response: Sendable, Failure: Error>: Asking {
  @usableFromInline let recipients: Recipients<P>
  @usableFromInline let call: CallKind
  @usableFromInline let late: Answer<Response, Failure>.Late?
  /// The actor that the closure belongs to; `nil` for none.
  @usableFromInline let actor: (any Actor)?
  @usableFromInline let body: @Sendable (P) throws(Failure) -> Response

  @inlinable
  init(
    _ recipients: Recipients<P>, in call: CallKind,
    absent absence: DelegateHub.Absence<Response>? = nil, on actor: (any Actor)? = nil,
    _ body: @escaping @Sendable (P) throws(Failure) -> Response
  ) {
    (self.recipients, self.call, self.actor, self.body) = (recipients, call, actor, body)
    late = absence?.late()
  }

  @_alwaysEmitIntoClient @inline(__always)
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure>
  {
    guard let actor else { return answerHere(of: node) }
    // A subscriber that is gone need not wait for a busy actor.
    guard node.isReached(by: recipients.admits, endingIn: call) else { return node.absence() }
    // The subscriber counts as unasked until the actor is free.
    HandlerContext.note(.unasked)
    return await answer(of: node, in: question, on: actor)
  }

  /// Asks on the actor, unless the subscription ended, or the question was decided, while the actor was busy.
  @usableFromInline
  func answer(
    of node: SubscriptionNode, in question: Question?, on actor: isolated any Actor
  ) -> Answer<Response, Failure> {
    guard node.isOpen, question?.isDecided != true else { return node.absence() }
    HandlerContext.note(.answered)
    return answerHere(of: node)
  }

  @usableFromInline
  func answerHere(of node: SubscriptionNode) -> Answer<Response, Failure> {
    guard let subscriber = node.subscriber(in: recipients, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try body(subscriber))
    } catch {
      return node.failure(error, absent: late)
    }
  }

  /// Asks one subscription after another, until the question is decided, or a subscription has an executor or was
  /// replaced.
  ///
  /// Synchronous, with a copy of the combiner, so that the count stays in registers.
  ///
  /// - Returns: the decision; `nil` if a loop is not enough for the subscription at `position`.
  @_alwaysEmitIntoClient @inline(never)
  func ask<C: Combiner>(
    _ nodes: [SubscriptionNode], from position: inout Int, counting combiner: inout C
  ) -> Result<C.Outcome, Failure>? where C.Response == Response {
    var count = combiner
    defer { combiner = count }
    while position < nodes.count {
      let node = nodes[position]
      if node.hasExecutor { return nil }
      let outcome: C.Outcome?
      do throws(Failure) {
        if let response = try node.call(in: recipients, for: call, body) {
          outcome = count.receive(response, from: position)
        } else if node.replacement != nil {
          return nil
        } else {
          outcome = count.receiveNothing(from: position)
        }
      } catch {
        return .failure(error)
      }
      if let outcome { return .success(outcome) }
      position += 1
    }
    return .success(count.finish())
  }
}
