/// Many people in one room, talking from many tasks at once.
struct Simulation: Sendable {
  /// How many messages are posted before all observers are waited for: they are slower than those who
  /// post, and what waits for them takes memory.
  private static let roundLength = 50_000

  let messages: Int
  let tasks: Int
  let seed: UInt64
  let words: WordList
  let limit: Int
  let window: Duration

  init(messages: Int, options: Options, words: WordList) {
    self.messages = messages
    tasks = options.tasks
    seed = options.seed
    self.words = words
    limit = options.limit
    window = options.window
  }

  /// Runs it, on the pool's threads: each step of it would otherwise go by way of the main thread.
  @concurrent
  func run(_ progress: Progress) async -> Report {
    let rules: [any RoomRule] = [FloodLimiter(limit: limit, window: window), Moderator(words)]
    let history = History()
    let statistics = StatisticsKeeper()
    let witness = Witness()
    let room = Room(rules: rules, observers: [history, statistics, witness])
    var talkers = (0..<tasks).map { Talker(number: $0, seed: seed, words: words) }
    var cameToRest = true

    let start = ContinuousClock.now
    for done in stride(from: 0, to: messages, by: Self.roundLength) {
      let count = min(Self.roundLength, messages - done)
      talkers = await Self.talk(count, talkers, in: room, progress)
      cameToRest = await room.settle() && cameToRest
    }
    let duration = ContinuousClock.now - start

    var tally = Tally()
    for var talker in talkers {
      await talker.leave(room)
      tally.add(talker.tally)
    }
    return Report(
      asked: messages, tally: tally, figures: await statistics.figures,
      toldHistory: await history.told, toldWitness: await witness.told,
      outOfOrder: await witness.outOfOrder,
      rulesAtStart: rules.count, rulesAtEnd: room.rules().count,
      cameToRest: cameToRest, duration: duration)
  }

  /// Lets all talk at once until they have said so much together.
  private static func talk(
    _ count: Int, _ talkers: [Talker], in room: Room, _ progress: Progress
  ) async -> [Talker] {
    let (share, rest) = count.quotientAndRemainder(dividingBy: talkers.count)
    return await withTaskGroup { group in
      for (index, talker) in talkers.enumerated() {
        group.addTask {
          var talker = talker
          await talker.talk(index < rest ? share + 1 : share, in: room, progress: progress)
          return talker
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }
}
