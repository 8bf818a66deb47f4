/// Calls a closure with each event.
final class EventObserver<Event: Sendable>: EventReceiver, NamedSubscriber {
  static var name: String { "a closure" }

  let place = ObserverPlace()
  private let body: @isolated(any) @Sendable (Event) async throws -> Void

  init(_ body: @escaping @isolated(any) @Sendable (Event) async throws -> Void) {
    self.body = body
  }

  func receive(_ event: Event) async throws {
    guard let actor = body.isolation else { return try await body(event) }
    try await receive(event, on: actor)
  }

  private func receive(_ event: Event, on actor: isolated any Actor) async throws {
    guard place.mayCall else { return HandlerContext.noteUnasked() }
    try await body(event)
  }
}

/// Calls a closure with each event, and the object that it belongs to.
///
/// `@unchecked Sendable` is inherited: it has constants only.
final class OwnedObserver<Owner: AnyObject & Sendable, Event: Sendable>: BoundSubscriber,
  EventReceiver, NamedSubscriber, @unchecked Sendable
{
  static var name: String { "a closure" }

  let place = ObserverPlace()
  private let body: @isolated(any) @Sendable (Owner, Event) async throws -> Void

  init(
    _ owner: Owner, _ body: @escaping @isolated(any) @Sendable (Owner, Event) async throws -> Void
  ) {
    self.body = body
    super.init(to: owner)
  }

  func receive(_ event: Event) async throws {
    if let actor = body.isolation { return try await receive(event, on: actor) }
    guard let owner = owner as? Owner else { return HandlerContext.noteUnasked() }
    try await body(owner, event)
  }

  private func receive(_ event: Event, on actor: isolated any Actor) async throws {
    guard place.mayCall, let owner = owner as? Owner else { return HandlerContext.noteUnasked() }
    try await body(owner, event)
  }
}

/// The subscription of an observer, which looks at it when the actor of its closure is free.
///
/// The observer keeps its subscription, and the subscription the observer until it ends.
final class ObserverPlace: Sendable {
  private let node = Lock<SubscriptionNode?>(nil)

  /// Whether the closure may be called: not if the subscription has ended.
  var mayCall: Bool { node.withLock { $0?.mayHandle ?? true } }

  func open(_ subscription: DelegateHub.Subscription) -> DelegateHub.Subscription {
    node.withLock { $0 = subscription.node }
    return subscription
  }
}
