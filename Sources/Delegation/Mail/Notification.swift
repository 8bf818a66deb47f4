internal import Synchronization

/// One notification, shared by all subscriptions that it is addressed to, and a link to the next one.
///
/// The notifications of a protocol form a chain that ends in an empty placeholder. Posting fills the
/// placeholder and appends a new one. Each subscription keeps a reference to the first notification that
/// it has not handled, or to the placeholder. So a notification is stored once for all subscriptions, one
/// that lags costs the others nothing, and when the last one moves on, the notification and its handler's
/// captures are released.
///
/// `@unchecked Sendable`: `content` and `next` are written once, under the topic's lock and before the
/// topic's `published` counts the notification. They are read only after a load of `published` that
/// includes the notification, or by the last owner.
@usableFromInline
final class Notification: @unchecked Sendable {
  /// What became of a notification that was taken.
  @usableFromInline
  enum Fate: Sendable {
    /// The handler returned.
    case handled
    /// The handler threw.
    case failed
    /// The handler was not called: an interceptor has kept it away.
    case passedOver
    /// The handler was not called: it is for those that conform to a further protocol, and the subscriber does not.
    case notAddressed
    /// The handler was not called: the subscriber was found dead, or its subscription has ended.
    case expired
  }

  /// The closure that is called with each subscriber.
  @usableFromInline
  enum Handler: Sendable {
    case synchronous(Synchronous)
    case asynchronous(Asynchronous)
    /// With task-locals of the poster.
    case bound(Bound)
  }

  /// A handler and the task-locals of the poster that are bound around it.
  ///
  /// It is an object, for few notifications have any.
  @usableFromInline
  final class Bound: Sendable {
    let handler: Handler
    let context: TaskLocalPropagation.Context

    init(_ handler: Handler, in context: TaskLocalPropagation.Context) {
      self.handler = handler
      self.context = context
    }
  }

  @usableFromInline
  typealias Synchronous = @Sendable (borrowing WeakReference) throws -> Fate

  /// Runs in the worker's task without an executor hop.
  @usableFromInline
  typealias Asynchronous =
    nonisolated(nonsending) @Sendable (borrowing WeakReference) async throws -> Fate

  /// What a notification carries.
  struct Content: Sendable {
    var handler: Handler
    /// Counts the subscriptions that have yet to pass the notification; `nil` if no caller waits for that.
    var receipt: Receipt?

    /// The task-locals of the poster that are bound around the handler.
    var context: TaskLocalPropagation.Context {
      if case .bound(let bound) = handler { bound.context } else { [] }
    }
  }

  private(set) var content: Content?
  private(set) var next: Notification?

  /// Turns the placeholder into a notification.
  ///
  /// Called under the topic's lock.
  func fill(with content: Content, followedBy placeholder: Notification) {
    self.content = content
    next = placeholder
  }

  /// Releases a long chain link by link: recursion would exhaust the stack.
  deinit {
    var rest = next
    next = nil
    while isKnownUniquelyReferenced(&rest) {
      // The uniqueness check is relaxed; the fence makes what other owners did before their release visible.
      atomicMemoryFence(ordering: .acquiring)
      let following = rest?.next
      rest?.next = nil
      rest = following
    }
  }
}

extension Notification.Handler {
  /// Calls a subscriber.
  nonisolated(nonsending) func callAsFunction(
    _ reference: borrowing WeakReference
  ) async throws -> Notification.Fate {
    switch self {
    case .synchronous(let handle): return try handle(reference)
    case .asynchronous(let handle): return try await handle(reference)
    case .bound(let bound):
      var result: Result<Notification.Fate, any Error>?
      await bound.context.bind {
        do { result = .success(try await bound.handler(reference)) } catch {
          result = .failure(error)
        }
      }
      return try result?.get() ?? .expired
    }
  }
}
