/// How one subscriber is asked, and what counts if it is late.
///
/// It is a type, and not a closure, so that it is inlined into the workers' loop: a closure would be one more level of
/// asynchronous calls, which is 600 instructions a voter. Each type awaits the user's closure itself: behind a function
/// that does, even if it is inlined, a task looks for its executor.
@usableFromInline
protocol Asking<Response, Failure>: Sendable {
  associatedtype P
  associatedtype Response: Sendable
  associatedtype Failure: Error

  /// Who is asked.
  var recipients: Recipients<P> { get }
  var call: CallKind { get }
  /// What counts for a subscriber that throws or is late; `nil` if an error fails the call.
  var late: Answer<Response, Failure>.Late? { get }

  /// Asks one subscriber.
  ///
  /// - Parameters:
  ///   - node: its subscription.
  ///   - question: the question, for what has to wait for an actor; `nil` if there is none.
  /// - Returns: what it contributes.
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure>
}

extension Answer {
  /// What counts for a subscriber that throws or is late.
  ///
  /// It is a closure: what has a generic value in place is laid out at run time, by code of its own for each type.
  @usableFromInline typealias Late = @Sendable (SubscriptionNode) -> Self
}

/// A question whose responses are combined.
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
    (self.recipients, self.call, self.body) = (recipients, call, body)
    late = absence?.late()
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

/// A vote that awaits its voters.
///
/// A type of its own, for its closure's type has no parameter for what is returned: otherwise a thunk would be one more
/// level of asynchronous calls, which is 80 instructions a voter.
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
    (self.recipients, self.body) = (recipients, body)
    late = absence?.late()
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

/// A step of a value that is passed through the subscribers.
///
/// A type of its own, for it has the value: a closure that had it would be one more allocation a subscriber.
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
    (self.value, self.recipients, self.body) = (value, recipients, body)
    late = absence?.late()
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

/// A question for each subscriber's own result: what one answers or throws becomes a ``DelegateHub/Reply``.
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

/// What subscribers contribute that do not answer.
extension SubscriptionNode {
  /// What a subscriber contributes that is gone, or does not conform.
  @inlinable
  func absence<Response, E>() -> Answer<Response, E> {
    HandlerContext.note(.unasked)
    return .absence
  }

  /// What a subscriber contributes whose handler threw.
  ///
  /// - Parameters:
  ///   - error: what it threw.
  ///   - late: what counts in its place; `nil` if the error fails the call.
  /// - Returns: what it contributes.
  @inlinable
  func failure<Response, E>(
    _ error: E, absent late: Answer<Response, E>.Late?
  ) -> Answer<Response, E> {
    noteFailure(error, isTold: late != nil)
    return late?(self) ?? .failure(error)
  }
}

extension DelegateHub.Absence {
  /// The answer that is counted.
  @inlinable
  func late<E>() -> Answer<Response, E>.Late {
    { _ in substitute.map(Answer.substitute) ?? .absence }
  }
}

extension DelegateHub {
  /// One subscriber's own result of `collect`.
  public struct Reply<Value: Sendable>: Sendable {
    private let id: Identity?
    /// The subscriber's type, and the id it was subscribed with; the text is made each time it is read.
    public var subscriber: String { subscription.node.name(with: id) }
    /// The subscription that it was asked by.
    public let subscription: Subscription
    /// What its handler returned or threw; ``ReplyError/timedOut`` if it was late, or has at the deadline the place of one
    /// that still runs.
    public let result: Result<Value, any Error>

    @usableFromInline
    init(of node: SubscriptionNode, result: Result<Value, any Error>) {
      (id, subscription, self.result) = (node.id, Subscription(node: node), result)
    }
  }

  /// Why a subscriber has no result of its own.
  public struct ReplyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The subscriber had not answered at the deadline.
    public static let timedOut = Self(
      description: "the subscriber had not answered at the deadline")

    /// What went wrong, in words.
    public let description: String
  }
}

/// A question that awaits nothing.
///
/// It is a type, and not a closure, so that the compiler does not make a copy of what asks it for each closure.
@frozen @usableFromInline
struct AskingInPlace<P, Response: Sendable, Failure: Error>: Asking {
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

  /// Asks one subscriber, on the closure's actor if it belongs to one.
  @_alwaysEmitIntoClient @inline(__always)
  func answer(of node: SubscriptionNode, in question: Question?) async -> Answer<Response, Failure>
  {
    guard let actor else { return answerHere(of: node) }
    // The actor may be busy: who is gone does not wait for it.
    guard node.isReached(by: recipients.admits, endingIn: call) else { return node.absence() }
    HandlerContext.note(.unasked)
    return await answer(of: node, in: question, on: actor)
  }

  /// Asks on an actor, unless the subscription has ended, or the outcome is fixed, when that is free.
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

  /// Asks one subscription after another, up to the one that decides, or one that has an executor or whose place
  /// another one has.
  ///
  /// It is not asynchronous, and has a combiner of its own, so that what it counts is in registers.
  ///
  /// - Returns: the decision; `nil` at a subscription that needs more than a loop.
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
        } else if node.heir != nil {
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
