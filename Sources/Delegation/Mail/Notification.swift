internal import Synchronization

/// One notification, shared by all who are to handle it, and a link to the one posted after it.
///
/// The notifications of a protocol form a chain that ends in an empty placeholder. Posting fills the
/// placeholder and hangs a new one behind it; each subscriber keeps a reference to the first one it
/// has not handled (at rest: the placeholder). So a notification is stored once however many wait for
/// it, a subscriber that lags costs the others nothing, and when the last one moves on, the
/// notification and what its handler captured are released.
///
/// `@unchecked Sendable`: `content` and `next` are written once, under the inbox's lock and before
/// the topic's `published` counts the notification; they are read only by those who have seen that
/// count, or by the last owner.
@usableFromInline
final class Notification: @unchecked Sendable {
  /// What to do with each subscriber.
  ///
  /// Both return `false` if the subscriber was found dead.
  @usableFromInline
  enum Handler: Sendable {
    case synchronous(Synchronous)
    case asynchronous(Asynchronous)
    /// For those alone that conform to a further protocol.
    case narrowed(Narrowed)
  }

  /// A handler that is given a subscriber as a further protocol.
  @usableFromInline
  final class Narrowed: Sendable {
    let handler: Handler
    let narrowing: Narrowing

    init(_ handler: Handler, for narrowing: Narrowing) {
      self.handler = handler
      self.narrowing = narrowing
    }
  }

  @usableFromInline
  typealias Synchronous = @Sendable (borrowing WeakReference) throws -> Bool

  /// Runs in the worker's place, without a hop of its own.
  @usableFromInline
  typealias Asynchronous =
    nonisolated(nonsending) @Sendable (borrowing WeakReference) async throws -> Bool

  /// What a notification brings.
  struct Content: Sendable {
    var handler: Handler
    /// Passed once by every subscription that the notification was addressed to, if anybody waits.
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
      // The look is relaxed: what the others did to the link before they released it is seen from here.
      atomicMemoryFence(ordering: .acquiring)
      let following = rest?.next
      rest?.next = nil
      rest = following
    }
  }
}

extension Notification.Handler {
  /// The handler for those alone that conform to a further protocol.
  @usableFromInline
  func narrowed(by narrowing: Narrowing?) -> Self {
    narrowing.map { .narrowed(Notification.Narrowed(self, for: $0)) } ?? self
  }

  /// The handler with captured task-locals bound around it.
  func binding(_ captured: [TaskLocalPropagation.Captured]) -> Self {
    captured.reduce(self) { handler, captured in
      switch handler {
      case .synchronous(let handle):
        .synchronous { subscriber in try captured.bind { try handle(subscriber) } }
      case .asynchronous(let handle):
        .asynchronous { subscriber in try await captured.bindAsync { try await handle(subscriber) }
        }
      case .narrowed(let narrowed):
        narrowed.handler.binding([captured]).narrowed(by: narrowed.narrowing)
      }
    }
  }
}
