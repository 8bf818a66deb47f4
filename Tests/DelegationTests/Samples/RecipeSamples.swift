import Delegation
import Dispatch
import Testing

@Suite("Samples of recipes from elsewhere", .inTurn)
struct RecipeSamples {
  protocol RoomMember: AnyObject, Sendable {
    func didSay(_ line: String) async
  }

  private final class Listener: RoomMember {
    let heard = Recorder<String>()
    func didSay(_ line: String) async { heard.record(line) }
  }

  // MARK: Once

  private final class Greeter: RoomMember {
    let hub: DelegateHub
    let greeted = Recorder<String>()

    init(_ hub: DelegateHub) { self.hub = hub }

    private func greet(_ line: String) { greeted.record(line) }

    // sample: Once
    func didSay(_ line: String) async {
      hub.unsubscribe(self, from: RoomMember.self)  // first of all
      greet(line)
    }
    // end of sample
  }

  @Test("a handler that ends its own subscription runs once")
  func once() async {
    let hub = DelegateHub()
    let greeter = Greeter(hub)
    let subscription = hub.subscribe(greeter, to: RoomMember.self)
    for line in ["hello", "is anybody here?", "bye"] {
      hub[RoomMember.self].notify { await $0.didSay(line) }
    }
    await hub.drain()
    #expect(greeter.greeted.history == ["hello"])
    #expect(subscription.statistics.counts.cancelled == 2)
    #expect(!subscription.isActive)
  }

  // MARK: A scope

  /// Ends a subscription at the end of a scope.
  struct ScopedSubscription: ~Copyable {
    private let subscription: DelegateHub.Subscription

    init(_ subscription: DelegateHub.Subscription) { self.subscription = subscription }
    deinit { subscription.cancel() }
  }

  @Test("a scoped subscription ends with its scope, also if that is left by an error")
  func scope() async throws {
    let hub = DelegateHub()
    let listener = Listener()
    func watch(failing: Bool) async throws {
      let scope = ScopedSubscription(hub.subscribe(listener, to: RoomMember.self))
      await hub[RoomMember.self].notifyAndWait { await $0.didSay("in the scope") }
      if failing { throw Refusal() }
      _ = consume scope  // the subscription ends here, or at the `throw`
      #expect(hub[RoomMember.self].isEmpty)
    }
    try await watch(failing: false)
    #expect(hub[RoomMember.self].isEmpty)
    await #expect(throws: Refusal.self) { try await watch(failing: true) }
    #expect(hub[RoomMember.self].isEmpty)
    await hub[RoomMember.self].notifyAndWait { await $0.didSay("after it") }
    #expect(listener.heard.history == ["in the scope", "in the scope"])
  }

  // MARK: Replay

  // sample: Replay
  /// Who joins is told the latest twenty lines first, and then what follows.
  struct Room {
    private let members = Delegates<any RoomMember>(replaying: 20)

    func join(_ newcomer: any RoomMember) { members.registry.subscribe(newcomer) }
    func say(_ line: String) { members.notify { await $0.didSay(line) } }
    func rest() async { await members.hub.drain() }
  }
  // end of sample

  @Test("a newcomer is told what was said before, once and in order; the others are not")
  func replay() async {
    let room = Room()
    let (first, second) = (Listener(), Listener())
    room.join(first)
    for line in ["a", "b"] { room.say(line) }
    async let more: Void = {
      for number in 0..<100 { room.say("\(number)") }
    }()
    room.join(second)
    await more
    await room.rest()
    #expect(first.heard.history == ["a", "b"] + (0..<100).map { "\($0)" })
    #expect(second.heard.history.count >= 20)
    #expect(second.heard.history == first.heard.history.suffix(second.heard.history.count))
  }

  // MARK: Pausing

  @Test("a subscriber on a suspended queue misses nothing and keeps its order")
  func pause() async {
    let hub = DelegateHub()
    let (listener, other) = (Listener(), Listener())
    hub.subscribe(other, to: RoomMember.self)
    let queue = DispatchQueue(label: "listener")
    let subscription = hub.subscribe(
      listener, to: RoomMember.self, on: DispatchQueueExecutor(queue))

    queue.suspend()  // pauses: what is posted waits
    for line in ["a", "b", "c"] {
      hub[RoomMember.self].notify { await $0.didSay(line) }
    }
    queue.resume()  // goes on with "a"
    await hub.drain()
    #expect(listener.heard.history == ["a", "b", "c"])
    queue.suspend()
    for line in ["d", "e"] { hub[RoomMember.self].notify { await $0.didSay(line) } }
    // The others do not wait.
    #expect(await other.heard.history(of: 5) == ["a", "b", "c", "d", "e"])
    #expect(subscription.statistics.counts.waiting == 2)
    #expect(listener.heard.history == ["a", "b", "c"])
    queue.resume()
    await hub.drain()
    #expect(listener.heard.history == ["a", "b", "c", "d", "e"])
  }
}
