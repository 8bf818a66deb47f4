internal import Synchronization

/// One notification, shared by all subscriptions that it is addressed to, and a link to the next one.
///
/// The notifications of a protocol form a chain that ends in an empty placeholder. Posting fills the
/// placeholder and appends a new one. Each subscription keeps a reference to the first notification that
/// it has not handled, or to the placeholder. So a notification is stored once for all subscriptions, one
/// that lags costs the others nothing, and when the last one moves on, the notification and its handler's
/// captures are released.
///
/// `@unchecked Sendable`: `content` and `next` are written once, under the inbox's lock and before the
/// topic's `published` counts the notification. They are read only after a load of `published` that
/// includes the notification, or by the last owner.
@usableFromInline
final class Notification: @unchecked Sendable {
  /// The closure that is called with each subscriber.
  ///
  /// Both return `false` if the subscriber was found dead.
  @usableFromInline
  enum Handler: Sendable {
    case synchronous(Synchronous)
    case asynchronous(Asynchronous)
    /// With what most do not have.
    case special(Special)
  }

  /// A handler that is called with a subscriber as a further protocol, or with task-locals of the poster.
  @usableFromInline
  final class Special: Sendable {
    let handler: Handler
    /// The further protocol that subscribers must conform to; `nil` for none.
    let narrowing: Narrowing?
    /// What the poster has bound.
    let context: TaskLocalPropagation.Context

    @usableFromInline
    init(_ handler: Handler, for narrowing: Narrowing) {
      self.handler = handler
      self.narrowing = narrowing
      context = []
    }

    init(_ handler: Handler, in context: TaskLocalPropagation.Context, for narrowing: Narrowing?) {
      self.handler = handler
      self.narrowing = narrowing
      self.context = context
    }
  }

  @usableFromInline
  typealias Synchronous = @Sendable (borrowing WeakReference) throws -> Bool

  /// Runs in the worker's task without an executor hop.
  @usableFromInline
  typealias Asynchronous =
    nonisolated(nonsending) @Sendable (borrowing WeakReference) async throws -> Bool

  /// What a notification carries.
  struct Content: Sendable {
    var handler: Handler
    /// Counts the subscriptions that have yet to pass the notification; `nil` if no caller waits for that.
    var receipt: Receipt?
  }

  private(set) var content: Content?
  private(set) var next: Notification?

  /// Turns the placeholder into a notification.
  ///
  /// Called under the inbox's lock.
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
  /// The handler for subscribers that conform to a further protocol only.
  @inlinable
  @inline(__always)
  func narrowed(by narrowing: Narrowing?) -> Self {
    guard let narrowing else { return self }
    return .special(Notification.Special(self, for: narrowing))
  }

  /// The handler with captured task-locals bound around it.
  func binding(_ context: TaskLocalPropagation.Context) -> Self {
    context.isEmpty ? self : .special(Notification.Special(self, in: context, for: nil))
  }

  /// The task-locals that are bound around it.
  var context: TaskLocalPropagation.Context? {
    guard case .special(let special) = self else { return nil }
    return special.context.isEmpty ? special.handler.context : special.context
  }
}
