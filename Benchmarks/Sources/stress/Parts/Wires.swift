import Delegation

/// Events: loops over streams, closures, `next`, `once` and `finish`, that take each event once, in order, and count what
/// a limit has dropped.
final class Wires: Part {
  static let name = "wires"

  private let world: World
  private let posted: [Counter]
  /// One loop each.
  private let (all, few, latest): (EventStream<Note>, EventStream<Note>, EventStream<Note>)
  /// One loop after another.
  private let shared: EventStream<Note>
  private let observed = Counter()
  private let owned = Counter()
  private let owner = Owner()

  private final class Owner: Sendable {}

  private var notes: Events<Note> { Events<Note>(of: world.hub) }

  init(in world: World) {
    self.world = world
    posted = (0..<world.tasks).map { _ in Counter() }
    let registry = Events<Note>(of: world.hub).registry
    all = registry.stream(id: "all", priority: 3)
    few = registry.stream(mailbox: .dropOldest(limit: 16))
    latest = registry.stream(mailbox: .latest)
    shared = registry.stream()
    registry.observe { [observed] _ in
      await Task.yield()
      observed.add()
    }
    registry.observe(with: owner) { @MainActor [owned] _, _ in _ = owned.add() }
  }

  private var total: Int { posted.reduce(0) { $0 + $1.value } }

  func run() async {
    let books = [
      Notebook("a stream", in: world, isGapless: true),
      Notebook("a limited stream", in: world, isGapless: false),
      Notebook("a stream of the latest", in: world, isGapless: false),
      Notebook("loop after loop", in: world, isGapless: true),
    ]
    let loops = zip([all, few, latest], books).map { stream, book in
      Task { for await note in stream { book.enter(note) } }
    }
    let relay = Task { await self.relay(books[3]) }
    await world.act(Self.name) { [self] index, dice in
      while world.limits.take() { await step(index, &dice) }
    }
    notes.finish()
    for loop in loops + [relay] { await loop.value }
    _ = await world.hub.drain(within: .seconds(10))
    checkStreams(books)
  }

  /// Takes everything from one stream, by loops that leave off, each in a task of its own, and by `next` between them.
  private func relay(_ book: Notebook) async {
    var goesOn = true
    while goesOn {
      goesOn = await Task { [shared] in
        for await note in shared {
          book.enter(note)
          if note.number % 50 == 0 { return true }
        }
        return false
      }.value
      if let note = await shared.next(within: .milliseconds(1)) { book.enter(note) }
    }
  }

  private func checkStreams(_ books: [Notebook]) {
    let violations = world.violations
    violations.check("wires, a stream", hub: books[0].count, own: total)
    violations.check("wires, loop after loop", hub: books[3].count, own: total)
    for (stream, count) in zip([all, few, latest, shared], books.map(\.count)) {
      let counts = stream.subscription.statistics.counts
      violations.check(
        counts.handled == count && counts.handled + counts.dropped == total
          && counts.addressed == total,
        "wires: a stream has given \(count) of \(total), the hub says \(counts)")
    }
    for (poster, last) in posted.enumerated() where last.value > 0 {
      violations.check(
        books[0].last(of: poster) == last.value, "wires: the last event of a poster is missing")
    }
    violations.check("wires, a closure", hub: observed.value, own: total)
    violations.check("wires, a closure with an owner", hub: owned.value, own: total)
  }

  private func post(_ index: Int, andWait: Bool = false) async -> Note {
    let note = Note(poster: index, number: posted[index].add())
    world.tally.count(.post)
    if andWait {
      await notes.notifyAndWait(leaving: 4) { try await $0.receive(note) }
    } else {
      notes.post(note)
    }
    return note
  }

  private func step(_ index: Int, _ dice: inout Dice) async {
    let registry = notes.registry
    switch dice.roll(40) {
    case 0:
      // A loop that ends by itself: what it was given is without a gap.
      world.tally.count(.stream)
      world.tally.count(.loopBreak)
      let book = Notebook("a short stream", in: world, isGapless: true)
      let stream = registry.stream(priority: dice.roll(3))
      _ = await post(index)
      for await note in stream {
        book.enter(note)
        if book.count == 3 || note.poster == index { break }
      }
    case 1:
      // Everything that was posted before `finish` is given out.
      world.tally.count(.finish)
      let stream = registry.stream()
      let first = await post(index)
      let last = await post(index)
      stream.subscription.finish()
      var own: [Int] = []
      for await note in stream where note.poster == index { own.append(note.number) }
      world.violations.check(
        own == [first.number, last.number], "wires: finish lost what had been posted")
    case 2:
      world.tally.count(.loopCancelled)
      let task = Task {
        let book = Notebook("a cancelled stream", in: world, isGapless: true)
        for await note in registry.stream() { book.enter(note) }
      }
      for _ in 0..<dice.roll(5) { await Task.yield() }
      task.cancel()
      await task.value
    case 3:
      world.tally.count(.next)
      let stream = registry.stream()
      let note = await post(index)
      let next = await stream.next(within: .seconds(10)) {
        $0.poster == index && $0.number == note.number
      }
      world.violations.check(next != nil, "wires: the next event never came")
      world.violations.check(
        await stream.next(within: .zero, where: { $0.number < 0 }) == nil,
        "wires: a condition was not heeded")
    case 4:
      world.tally.count(.next)
      _ = await registry.next(within: .milliseconds(dice.roll(3)), where: { $0.number % 2 == 0 })
    case 5:
      world.tally.count(.once)
      let once = Counter()
      let subscription = registry.once { _ in _ = once.add() }
      let isCancelled = dice.hits(4)
      if isCancelled { subscription.cancel() }
      let note = Note(poster: index, number: posted[index].add())
      await notes.notifyAndWait { try await $0.receive(note) }
      world.violations.check(
        isCancelled ? once.value <= 1 : once.value == 1 && !subscription.isActive,
        "wires: once was called \(once.value) times")
    case 6:
      world.tally.count(.observe)
      world.tally.count(.owned)
      let person = Owner()
      registry.observe(with: person, mailbox: .latest) { _, _ in await Task.yield() }
      _ = await post(index)
      withExtendedLifetime(person) {}
      world.tally.count(.death)
    case 7, 8: _ = await post(index, andWait: true)
    case 9..<20: await Task.yield()
    default: _ = await post(index)
    }
  }

  func audit() { world.violations.check(notes.isEmpty, "wires: somebody has not finished") }

  var sum: String {
    let dropped = [few, latest].reduce(0) { $0 + $1.subscription.statistics.counts.dropped }
    return "\(total.short) events, each once in a stream and in one with loop after loop; "
      + "\(dropped.short) dropped by limits"
  }
}
