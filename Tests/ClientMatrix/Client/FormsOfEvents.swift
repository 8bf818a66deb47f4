import Delegation
import DelegationTesting

// `Events` in every form: closures of each isolation, with and without an owner, streams, and objects.

private nonisolated struct Arrival: Hashable, Sendable {
  let event: Int
  let place: Place

  init(_ event: Int, _ place: Place) {
    self.event = event
    self.place = place
  }
}

private nonisolated final class Register: EventReceiver {
  let arrivals = Recorder<Arrival>()

  func receive(_ event: Int) async { note(event) }
  func note(_ event: Int) { arrivals.record(Arrival(event, .current)) }
}

@MainActor
private final class Board {
  var events: [Int] = []
}

private nonisolated let free = Register()
@Sendable private nonisolated func note(_ event: Int) { free.note(event) }

nonisolated func formsOfEvents() async {
  let events = Events<Int>()
  let (object, queue, other, owned) = (Register(), Register(), Register(), Register())
  events.registry.subscribe(object)
  events.registry.observe(note)
  events.registry.observe { await free.receive($0) }
  events.registry.observe(on: Place.makeExecutor()) { queue.note($0) }
  events.registry.observe(with: queue, on: Place.makeExecutor()) { $0.note($1) }
  events.registry.observe { @Other in other.note($0) }
  events.registry.observe(with: other) { @Other register, event in register.note(event) }
  events.registry.observe(with: owned, priority: 1, id: "owned", mailbox: .latest) { $0.note($1) }
  let board = await observeOnMainActor(events)
  events.post(1)
  await events.hub.drain()
  events.post(2)
  await events.hub.drain()
  for (register, count, place) in [
    (object, 1, Place.pool), (free, 2, .pool), (queue, 2, .queue), (other, 2, .other),
    (owned, 1, .pool),
  ] {
    let expected = [1, 2].flatMap { [Arrival](repeating: Arrival($0, place), count: count) }
    Checks.expect(register.arrivals.clear(), is: expected)
  }
  let shown = await board.events
  Checks.expect(shown, is: [1, 1, 2, 2])
  await formsOfStreams(Events<Int>())
}

/// A stream that is kept while nobody loops would hold up a drain.
private nonisolated func formsOfStreams(_ events: Events<Int>) async {
  let stream = events.registry.stream(mailbox: .latest)
  let once = Register()
  events.registry.once { once.note($0) }
  events.registry.once { @Other in once.note($0) }
  for event in 1...3 { events.post(event) }
  for await event in stream {
    Checks.expect(event, is: 3)
    break
  }
  events.post(4)
  let found = await stream.next(within: .seconds(60)) { $0 > 3 }
  Checks.expect(found, is: 4)
  let late = await events.registry.next(within: .zero)
  Checks.expect(late, is: nil)
  events.finish()
  let end = await stream.next()
  Checks.expect(end, is: nil)
  await events.hub.drain()
  Checks.expect(Set(once.arrivals.clear()), is: [Arrival(1, .pool), Arrival(1, .other)])
}

@MainActor
private func observeOnMainActor(_ events: Events<Int>) -> Board {
  let board = Board()
  events.registry.observe { @MainActor in board.events.append($0) }
  events.registry.observe(with: board) { @MainActor board, event in board.events.append(event) }
  return board
}
