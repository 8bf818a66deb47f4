/// Calls a closure with each event.
///
/// These are not private, so that statistics show their plain names.
final class EventObserver<Event: Sendable>: EventReceiver {
  private let body: @isolated(any) @Sendable (Event) async throws -> Void

  init(_ body: @escaping @isolated(any) @Sendable (Event) async throws -> Void) {
    self.body = body
  }

  func receive(_ event: Event) async throws {
    guard let place = body.isolation else { return try await body(event) }
    try await receive(event, on: place)
  }

  private func receive(_ event: Event, on place: isolated any Actor) async throws {
    if HandlerContext.mayGoOn { try await body(event) }
  }
}

/// Calls a closure with each event, and the object that it belongs to.
///
/// `@unchecked Sendable` is inherited: it has a constant only.
final class OwnedObserver<Owner: AnyObject & Sendable, Event: Sendable>: BoundSubscriber,
  EventReceiver, @unchecked Sendable
{
  private let body: @isolated(any) @Sendable (Owner, Event) async throws -> Void

  init(
    _ owner: Owner, _ body: @escaping @isolated(any) @Sendable (Owner, Event) async throws -> Void
  ) {
    self.body = body
    super.init(to: owner)
  }

  func receive(_ event: Event) async throws {
    guard let place = body.isolation else {
      if let owner = owner as? Owner { try await body(owner, event) }
      return
    }
    try await receive(event, on: place)
  }

  private func receive(_ event: Event, on place: isolated any Actor) async throws {
    if HandlerContext.mayGoOn, let owner = owner as? Owner {
      try await body(owner, event)
    }
  }
}
