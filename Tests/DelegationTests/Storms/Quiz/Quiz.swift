import Dispatch
import Synchronization

@testable import Delegation

/// Asks questions of every kind in many worlds at once, and collects what is wrong.
final class Quiz: Sendable {
  /// The executor of some hubs, and that of some members and callers.
  static let pool = ThreadPool(threads: 3)
  static let otherPool = ThreadPool(threads: 3)

  /// An actor that handlers call.
  actor Landing {
    private var touches = 0
    func touch() { touches += 1 }
  }

  let questions = Atomic<Int>(0)
  let aliveQuestions = Atomic<Int>(0)
  let landing = Landing()
  let canceller = QuizCanceller()
  let active = QuizActive()
  let phases = QuizPhases()
  private let found = Lock<[String]>([])
  private let counts = Lock<[String: Int]>([:])

  /// What was wrong; the first twenty of it.
  var problems: [String] { found.withLock { $0 } }

  /// How many questions of each kind were asked.
  var tally: [String: Int] { counts.withLock { $0 } }

  func report(_ problem: String, in world: QuizWorld) {
    report(["world \(world.seed): \(problem)"])
  }

  func report(_ texts: [String]) {
    found.withLock { $0 += texts.prefix(20 - min(20, $0.count)) }
  }

  func count(_ question: QuizQuestion, _ seen: QuizQuestion.Log, _ isLate: Bool) {
    var keys = ["\(question.plan.kind)", "\(question.plan.form)", "\(question.plan.mode)"]
    if question.plan.isNested { keys.append("nested") }
    if question.plan.isNarrowed { keys.append("narrowed") }
    if question.plan.maySpin { keys.append("spinning") }
    if isLate { keys.append("at the deadline") }
    if Task.isCancelled { keys.append("cancelled callers") }
    if case .refused = seen.outcome { keys.append("refused") }
    if seen.stages.values.contains(where: { if case .answered = $0 { false } else { true } }) {
      keys.append("early")
    }
    counts.withLock { counts in
      for key in keys { counts[key, default: 0] += 1 }
      counts["handlers", default: 0] += seen.stages.count
    }
  }

  /// Asks that many questions in one world, by several callers, and then ends it.
  func play(seed: UInt64, questions: Int, callers: Int) async {
    var world: QuizWorld? = QuizWorld(seed: seed, in: self)
    await withTaskGroup(of: Void.self) { group in
      for caller in 0..<callers {
        group.addTask { [world] in
          guard let world else { return }
          var dice = Dice(seed: seed &* 1000 &+ UInt64(caller))
          for _ in 0..<questions / callers {
            await world.stir(&dice)
            await QuizQuestion(QuizPlan(seed: dice.next()), in: world).ask()
          }
        }
      }
    }
    guard let ended = world else { return }
    await ended.end()
    let records = ended.records
    phases.begin("deaths of the members", in: ended)
    world = nil
    await deaths(of: records, in: consume ended)
  }

  /// Lets go of a world, and gives way to others until its members have died.
  private func deaths(of records: [QuizRecord], in world: consuming QuizWorld) async {
    let seed = world.seed
    _ = consume world
    while records.contains(where: { $0.alive.load(ordering: .sequentiallyConsistent) > 0 }) {
      await Task.yield()
    }
    phases.end(of: seed)
  }

  /// Plays worlds one after another, several at a time.
  func run(seed: UInt64, worlds: Int, questions: Int, callers: Int = 6) async {
    let watchdog = QuizWatchdog(self)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<worlds {
        if index >= 3 { await group.next() }
        if !problems.isEmpty { break }
        group.addTask {
          await self.play(
            seed: seed &+ UInt64(index), questions: questions, callers: callers)
        }
      }
    }
    watchdog.stop()
    canceller.stop()
  }
}
