import Delegation

/// Events: loops over streams, closures, `next`, `once` and `finish`, that take each event once, in order, and count what
/// a limit has dropped.
///
/// Places are replaced again and again, by several tasks at once: by objects, closures and streams, on a queue and off it.
/// To each place all comes once and in order, and one handler runs at a time, whoever has it.
final class Wires: Part {
  static let name = "wires"

  private let world: World
  private let posted: [Counter]
  /// One loop each.
  private let (all, few, latest): (EventStream<Note>, EventStream<Note>, EventStream<Note>)
  /// One loop after another.
  private let shared: EventStream<Note>
  /// What those have heard who have had each place.
  private let places: [Watch]
  private let replaced = Counter()
  private let observed = Counter()
  private let owned = Counter()
  private let owner = Owner()

  private final class Owner: Sendable {}

  /// An object that has a place.
  private final class Holder: EventReceiver {
    private let place: Watch
    init(_ place: Watch) { self.place = place }
    func receive(_ note: Note) async { await Wires.take(note, at: place) }
  }

  private var notes: Events<Note> { Events<Note>(of: world.hub) }

  init(in world: World) {
    self.world = world
    posted = (0..<world.tasks).map { _ in Counter() }
    let registry = Events<Note>(of: world.hub).registry
    all = registry.stream(id: "all", priority: 3)
    few = registry.stream(mailbox: .dropOldest(limit: 16))
    latest = registry.stream(mailbox: .latest)
    shared = registry.stream()
    places = (0..<4).map { _ in Watch(world, of: "a place", isGapless: true) }
    for (id, place) in places.enumerated() {
      registry.subscribe(Holder(place), id: id, hold: .strongly)
    }
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
    await withDiscardingTaskGroup { [self] group in
      // The loops of places, which end when they are replaced.
      let (streams, start) = AsyncStream<(EventStream<Note>, Watch)>.makeStream()
      group.addTask {
        await withDiscardingTaskGroup { group in
          for await (stream, place) in streams {
            group.addTask { for await note in stream { await Self.take(note, at: place) } }
          }
        }
      }
      await world.act(Self.name) { [self] index, dice in
        while world.limits.take() {
          if dice.hits(10) { replace(dice.roll(places.count), &dice, start) }
          await step(index, &dice)
        }
      }
      notes.finish()
      start.finish()
    }
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

  private static func take(_ note: Note, at place: Watch) async {
    place.begin(Event(id: 0, note: note))
    if note.number % 3 == 0 { await Task.yield() }
    place.end(throwing: false)
  }

  /// Gives a place to another holder, or to the same one with other options.
  private func replace(
    _ id: Int, _ dice: inout Dice, _ start: AsyncStream<(EventStream<Note>, Watch)>.Continuation
  ) {
    let (registry, place) = (notes.registry, places[id])
    let queue = dice.hits(2) ? world.queue : nil
    world.tally.count(.takeOver)
    replaced.add()
    switch dice.roll(3) {
    case 0: start.yield((registry.stream(id: id), place))
    case 1: registry.observe(id: id, on: queue) { await Self.take($0, at: place) }
    default:
      let holder = Holder(place)
      for priority in 0...dice.roll(2) {
        registry.subscribe(holder, priority: priority, id: id, hold: .strongly, on: queue)
      }
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
    for place in places {
      violations.check("wires, a place", hub: place.handled.value, own: total)
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
      + "\(dropped.short) dropped by limits; \(places.count) places had \(replaced.value.short) holders"
  }
}
