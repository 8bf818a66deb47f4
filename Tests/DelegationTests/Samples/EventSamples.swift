import Delegation
import Testing

// sample: A library that hides its hub
/// What happens in a room.
public enum RoomEvent: Equatable, Sendable {
  case joined(String)
}

/// A room, whose users see no hub.
public final class Room: Sendable {
  private let happenings = Events<RoomEvent>()

  /// Makes an empty room.
  public init() {}

  /// Ends what `observe` has begun.
  public struct Token: Sendable {
    let subscription: DelegateHub.Subscription
    /// Ends it.
    public func cancel() { subscription.cancel() }
  }

  /// Calls a closure with all that happens from now on, where the closure belongs.
  public func observe(
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @isolated(any) @Sendable (RoomEvent) async -> Void
  ) -> Token {
    Token(subscription: happenings.observe(fileID: fileID, line: line, body))
  }

  /// All that happens from now on; the newest hundred wait for a loop that is slow.
  public func events(
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> EventStream<RoomEvent> {
    happenings.stream(mailbox: .dropOldest(limit: 100), fileID: fileID, line: line)
  }

  /// Lets a guest in.
  public func join(_ guest: String) { happenings.post(.joined(guest)) }
  // end of sample

  /// For tests of its users: whether all observers have heard everything, within a time.
  public func settle(within duration: Duration) async -> Bool {
    await happenings.hub.drain(within: duration).isEmpty
  }
  // sample: A library that hides its hub
}
// end of sample

@Suite("Samples of events", .inTurn)
struct EventSamples {
  @Test("a library's users observe by closures and streams, and see no hub")
  func hidden() async throws {
    let room = Room()
    let seen = Recorder<RoomEvent>()
    let stream = room.events()
    let token = room.observe { seen.record($0) }
    room.join("Ann")
    #expect(await seen.history(of: 1) == [.joined("Ann")])
    token.cancel()
    room.join("Bob")
    // What the stream has not given out waits.
    #expect(!(await room.settle(within: .zero)))
    var heard: [RoomEvent] = []
    for await event in stream {
      heard.append(event)
      if heard.count == 2 { break }
    }
    #expect(heard == [.joined("Ann"), .joined("Bob")])
    #expect(await room.settle(within: .seconds(600)))
    #expect(seen.history == [.joined("Ann")])
  }

  @Test("closures, objects and streams observe")
  @MainActor
  func observing() async {
    let view = Board()
    let shown = Recorder<RoomEvent>()
    let show = { @Sendable (event: RoomEvent) in shown.record(event) }
    let stored = Recorder<RoomEvent>()
    let store = { @Sendable (event: RoomEvent) in stored.record(event) }
    // sample: Observing events
    let events = Events<RoomEvent>()
    // A closure, kept until it is cancelled.
    events.observe { event in store(event) }
    // A closure that ends with the view.
    events.observe(with: view) { @MainActor view, event in view.show(event) }
    // A loop.
    let stream = events.stream(mailbox: .dropOldest(limit: 100))
    let loop = Task { for await event in stream { show(event) } }

    events.post(.joined("Ann"))
    // end of sample
    await events.hub.drain()
    #expect(stored.history == [.joined("Ann")] && view.events == [.joined("Ann")])
    #expect(shown.history == [.joined("Ann")])
    events.finish()
    await loop.value
  }

  @Test("a token ends what a closure observes")
  func token() async {
    let printed = Recorder<RoomEvent>()
    let print = { @Sendable (event: RoomEvent) in printed.record(event) }
    // sample: Events
    let events = Events<RoomEvent>()
    let token = events.observe { print($0) }
    events.post(.joined("Ann"))
    token.cancel()
    // end of sample
    events.post(.joined("Bob"))
    await events.hub.drain()
    // What waits when it ends is cancelled.
    #expect(!printed.history.contains(.joined("Bob")))
  }

  @Test("a subscription ends with its scope")
  func scope() async {
    // sample: A subscription with a scope
    /// Ends a subscription when it goes out of scope.
    struct ScopedSubscription: ~Copyable {
      let subscription: DelegateHub.Subscription

      deinit { subscription.cancel() }
    }
    // end of sample
    let events = Events<RoomEvent>()
    do {
      let scoped = ScopedSubscription(subscription: events.observe { _ in })
      #expect(scoped.subscription.isActive)
    }
    #expect(events.isEmpty)
    _ = ScopedSubscription(subscription: events.observe { _ in })
    #expect(events.isEmpty)
  }

  @MainActor
  private final class Board: Sendable {
    private(set) var events: [RoomEvent] = []
    func show(_ event: RoomEvent) { events.append(event) }

    func observe(_ events: Events<RoomEvent>) {
      // sample: Observing with an owner
      events.observe(with: self) { @MainActor view, event in view.show(event) }
      // end of sample
    }
  }

  @Test("an object observes")
  @MainActor
  func owner() async {
    let events = Events<RoomEvent>()
    let board = Board()
    board.observe(events)
    events.post(.joined("Ann"))
    await events.hub.drain()
    #expect(board.events == [.joined("Ann")])
  }
}
