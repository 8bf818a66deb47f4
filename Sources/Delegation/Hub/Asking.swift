/// How one subscriber is asked, and what counts if it is late.
///
/// It is a type, and not a closure, so that it is inlined into the workers' loop: a closure would be one more level of
/// asynchronous calls, which is 600 instructions a voter. Each type awaits the user's closure itself: behind a function
/// that does, even if it is inlined, a task looks for its executor.
@usableFromInline
protocol Asking<Response, Failure>: Sendable {
  associatedtype Response: Sendable
  associatedtype Failure: Error

  func answer(of node: SubscriptionNode) async -> Answer<Response, Failure>
  /// What counts for a late subscriber; it keeps nothing of the question, for the deadline's alarm keeps it.
  var late: @Sendable (SubscriptionNode) -> Answer<Response, Failure> { get }
}

/// A vote that awaits its voters; it is not ``AskingForResponse``, for which its closure would have to be converted.
@frozen
@usableFromInline
struct AskingForVote<P, Failure: Error>: Asking {
  @usableFromInline
  let audience: Audience<P>
  @usableFromInline
  let body: nonisolated(nonsending) @Sendable (P) async throws(Failure) -> Bool

  @inlinable
  init(
    _ audience: Audience<P>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(Failure) -> Bool
  ) {
    self.audience = audience
    self.body = body
  }

  @inlinable
  @inline(__always)
  func answer(of node: SubscriptionNode) async -> Answer<Bool, Failure> {
    guard let subscriber = node.subscriber(in: audience, for: .vote) else { return node.absence() }
    do throws(Failure) {
      return .response(try await body(subscriber))
    } catch {
      return node.failure(error, in: .vote)
    }
  }

  @inlinable
  var late: @Sendable (SubscriptionNode) -> Answer<Bool, Failure> { { _ in .absence } }
}

/// A question whose responses are combined.
@frozen
@usableFromInline
struct AskingForResponse<P, Response: Sendable, Failure: Error>: Asking {
  @usableFromInline
  let audience: Audience<P>
  @usableFromInline
  let call: CallKind
  /// What counts for a subscriber that throws or is late; `nil` if an error fails the call.
  @usableFromInline
  let absence: DelegateHub.Absence<Response>?
  @usableFromInline
  let body: nonisolated(nonsending) @Sendable (P) async throws(Failure) -> Response

  @inlinable
  init(
    _ audience: Audience<P>, in call: CallKind, absent absence: DelegateHub.Absence<Response>?,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws(Failure) -> Response
  ) {
    self.audience = audience
    self.call = call
    self.absence = absence
    self.body = body
  }

  @inlinable
  @inline(__always)
  func answer(of node: SubscriptionNode) async -> Answer<Response, Failure> {
    guard let subscriber = node.subscriber(in: audience, for: call) else { return node.absence() }
    do throws(Failure) {
      return .response(try await body(subscriber))
    } catch {
      return node.failure(error, absent: absence, in: call)
    }
  }

  @inlinable
  var late: @Sendable (SubscriptionNode) -> Answer<Response, Failure> {
    { [absence] _ in absence?.answer() ?? .absence }
  }
}

/// A question of which each subscriber's own result is wanted.
@frozen
@usableFromInline
struct AskingForReply<P, R: Sendable>: Asking {
  @usableFromInline
  let audience: Audience<P>
  @usableFromInline
  let body: nonisolated(nonsending) @Sendable (P) async throws -> R

  @inlinable
  init(
    _ audience: Audience<P>,
    _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> R
  ) {
    self.audience = audience
    self.body = body
  }

  @inlinable
  @inline(__always)
  func answer(of node: SubscriptionNode) async -> Answer<DelegateHub.Reply<R>, Never> {
    guard let subscriber = node.subscriber(in: audience, for: .collect) else {
      return node.absence()
    }
    do {
      return Self.reply(of: node, .success(try await body(subscriber)))
    } catch {
      node.noteFailure()
      return Self.reply(of: node, .failure(error))
    }
  }

  @inlinable
  var late: @Sendable (SubscriptionNode) -> Answer<DelegateHub.Reply<R>, Never> {
    { Self.reply(of: $0, .failure(DelegateHub.ReplyError.timedOut)) }
  }

  @inlinable
  static func reply(
    of node: SubscriptionNode, _ result: Result<R, any Error>
  ) -> Answer<DelegateHub.Reply<R>, Never> {
    .response(DelegateHub.Reply(of: node, result: result))
  }
}

/// A question whose cost is that of other things: on the main actor, or in a task for each subscriber.
@frozen
@usableFromInline
struct AskingByClosure<Response: Sendable, Failure: Error>: Asking {
  @usableFromInline
  let late: @Sendable (SubscriptionNode) -> Answer<Response, Failure>
  @usableFromInline
  let body: @Sendable (SubscriptionNode) async -> Answer<Response, Failure>

  @inlinable
  init(
    late: Answer<Response, Failure> = .absence,
    _ body: @escaping @Sendable (SubscriptionNode) async -> Answer<Response, Failure>
  ) {
    self.late = { _ in late }
    self.body = body
  }

  @inlinable
  func answer(of node: SubscriptionNode) async -> Answer<Response, Failure> { await body(node) }
}
