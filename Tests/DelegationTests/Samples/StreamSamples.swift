import Delegation
import Testing

@Suite("Samples of streams, and of what must not be lost", .inTurn)
struct StreamSamples {
  private enum Message: Sendable, Equatable {
    case request(Int), response(Int), question(Int), closed, ready

    func answers(_ number: Int) -> Bool { self == .response(number) }
  }

  private enum LinkState: Sendable, Equatable { case connecting, connected }
  private typealias ConnectionState = LinkState

  private actor Log {
    private(set) var messages: [Message] = []
    func write(_ message: Message) { messages.append(message) }
  }

  @Test("a loop gets all that is posted after its stream was made")
  func streams() async {
    let (events, log, shown) = (Events<Message>(), Log(), Recorder<Message>())
    let show = { @Sendable (message: Message) async in shown.record(message) }
    do {
      // sample: A stream
      let stream = events.stream()
      Task {
        for await event in stream { await log.write(event) }
      }
      // end of sample
    }
    do {
      // sample: A stream with a limit
      let stream = events.stream(mailbox: .dropOldest(limit: 100))
      let task = Task { for await event in stream { await show(event) } }
      // end of sample
      events.post(.ready)
      events.post(.closed)
      events.finish()
      await task.value
    }
    await events.hub.drain()
    #expect(await log.messages == [.ready, .closed])
    #expect(shown.history == [.ready, .closed])
    try? await end(of: Events<Message>())
  }

  private func end(of events: Events<Message>) async throws {
    let shown = Recorder<Message>()
    let loop = Task { [stream = events.stream()] in
      for await event in stream { shown.record(event) }
    }
    // sample: The end of a library's events
    events.post(.closed)
    events.finish()  // every loop gets `closed`, and ends
    // end of sample
    await loop.value
    #expect(shown.history == [.closed])
  }

  /// Answers each request and each question.
  private func makeLink() -> Events<Message> {
    let link = Events<Message>()
    link.observe { message in
      switch message {
      case .request(let number), .question(let number): link.post(.response(number))
      default: break
      }
    }
    return link
  }

  @Test("an answer to what one has posted is waited for on a stream that was made before")
  func next() async {
    let (link, number, retries) = (makeLink(), 8, Recorder<Int>())
    func retry() { retries.record(1) }
    func ask() async {
      // sample: The answer to a request
      // Made first: the answer may come before the next line.
      let answers = link.stream()
      link.post(.request(7))
      let answer = await answers.next(within: .seconds(2)) { $0 == .response(7) }
      let isOver = !answers.subscription.isActive || Task.isCancelled
      if answer == nil, !isOver { retry() }  // the deadline has come
      // end of sample
    }
    await ask()
    #expect(retries.history == [])
    let events = link
    // sample: The answer to a question
    let replies = events.stream()
    events.post(.question(number))
    let reply = await replies.next(within: .seconds(2)) { $0.answers(number) }
    // end of sample
    #expect(reply == .response(8))
    let post = Task {
      while events.count < 3 { await Task.yield() }
      events.post(.ready)
    }
    let registry = events.registry
    // sample: next
    let ready = await registry.next(within: .seconds(2)) { $0 == .ready }
    // end of sample
    #expect(ready == .ready)
    await post.value
    // The closure that answers keeps its events.
    events.hub[(any EventReceiver<Message>).self].unsubscribeAll()
  }

  private struct Connection { let events = Events<Message>() }

  @Test("a closure is called once; the present value comes first")
  func once() async {
    let (connection, printed) = (Connection(), Recorder<String>())
    let events = connection.events
    let print = { @Sendable (text: String) in printed.record(text) }
    let greet = { @Sendable (event: Message) in printed.record("hello") }
    // sample: once
    connection.events.once { print("the first one: \($0)") }
    // end of sample
    // sample: A greeting
    events.once { event in greet(event) }
    // end of sample
    for _ in 1...2 { events.post(.ready) }
    await events.hub.drain()
    #expect(printed.clear().sorted() == ["hello", "the first one: ready"])
  }

  @Test("who comes late has the present state first")
  func replaying() async {
    let shown = Recorder<LinkState>()
    let show = { @Sendable (state: LinkState) in shown.record(state) }
    // sample: The present state
    let state = Events<LinkState>(replaying: 1)
    state.post(.connected)
    // Gets `connected` first, and then each change.
    state.observe { show($0) }
    // Waits until the link *is* up, not until it comes up.
    let isUp = await state.next(within: .seconds(2)) { $0 == .connected } != nil
    // end of sample
    #expect(isUp)
    state.post(.connecting)
    await state.hub.drain()
    #expect(shown.clear() == [.connected, .connecting])
    let print = show
    // sample: replaying
    let states = Events<ConnectionState>(replaying: 1)
    states.post(.connected)
    states.observe { print($0) }  // connected
    // end of sample
    await states.hub.drain()
    #expect(shown.history == [.connected])
  }

  private struct Sensor: Sendable {
    let log = Recorder<String>()
    func start() { log.record("starts") }
    func stop() { log.record("stops") }
  }

  @Test("a sensor works while somebody listens")
  func demand() async {
    let (readings, sensor) = (Events<Int>(), Sensor())
    let task = Task {
      // sample: demand
      for await isWanted in readings.demand {
        if isWanted { sensor.start() } else { sensor.stop() }
      }
      // end of sample
    }
    _ = await sensor.log.history(of: 1)
    let token = readings.observe { _ in }
    _ = await sensor.log.history(of: 2)
    token.cancel()
    #expect(await sensor.log.history(of: 3) == ["stops", "starts", "stops"])
    task.cancel()
    await task.value
  }

  private protocol Journal: AnyObject, Sendable {
    func write(_ entry: String) async throws
  }

  private final class Paper: Journal {
    let lines = Recorder<String>()
    func write(_ entry: String) async throws {
      if entry.isEmpty { throw Refusal() }
      lines.record(entry)
    }
  }

  @Test("whoever must not lose an entry hears whether it is written")
  func outcome() async {
    let entries = Delegates<any Journal>(of: DelegateHub(.init(onIncident: { _ in })))
    let (logger, paper) = (Logger(), Paper())
    func write(_ entry: String) async {
      // sample: Outcome
      let outcome = await entries.notifyAndWait { try await $0.write(entry) }
      if !outcome.isHandled { logger.error("not written: \(outcome)") }
      // end of sample
    }
    await write("for nobody")
    entries.subscribe(paper)
    for entry in ["one", ""] { await write(entry) }
    #expect(paper.lines.history == ["one"] && logger.lines.history.count == 2)
  }
}
