import Synchronization

@testable import Delegation

/// What a member says: by whom, and to which question.
struct QuizReply: Sendable, Hashable {
  let question: Int
  /// 0 for what is counted for one that throws or is late.
  let serial: Int
}

/// What a handler throws.
struct QuizRefusal: Error, Hashable {
  let reply: QuizReply
}

/// One question: its plan, and what has become of it.
final class QuizQuestion: Sendable {
  @TaskLocal static var current = 0

  /// A handler's state.
  enum Stage: Sendable, Hashable {
    case begun
    case hanging(String)
    case answered(QuizAnswer)
  }

  struct Log: Sendable {
    /// How the call came out; `nil` while it is going on.
    var outcome: QuizOutcome?
    /// When the first handler began; 0 for never.
    var first = 0
    var returned = 0
    var stages: [Int: Stage] = [:]
    /// Those that began after the call had returned.
    var late = 0
    var task: Task<Void, Never>?
    var isOver = false
    var hanging: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  let number: Int
  let plan: QuizPlan
  let world: QuizWorld
  /// When the call was about to be made.
  let asked = QuizClock.tick()
  let start = ContinuousClock.now
  let log = Lock(Log())
  /// Opens when the last member is asked, and when the call has returned.
  let relay = QuizGate()
  /// Opens when the call has returned.
  let end = QuizGate()

  init(_ plan: QuizPlan, in world: QuizWorld) {
    number = world.quiz.questions.wrappingAdd(1, ordering: .relaxed).newValue
    self.plan = plan
    self.world = world
    world.quiz.aliveQuestions.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  deinit {
    world.quiz.aliveQuestions.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  /// Asks in a task of its own, which may be cancelled.
  func ask() async {
    let task = Task.detached(
      executorPreference: preferred, priority: plan.priority
    ) { await self.conduct() }
    log.withLock { $0.task = task }
    if let turns = plan.cancelledAfter { world.quiz.canceller.cancel(self, after: turns) }
    await task.value
    log.withLock { $0.task = nil }
  }

  private var preferred: (any TaskExecutor)? {
    switch plan.preference {
    case .none: nil
    case .pool: Quiz.otherPool
    case .hub: world.executor
    }
  }

  /// Asks in the current task, and looks at what comes back.
  func conduct() async {
    world.quiz.active.insert(self)
    let expected = world.present.filter { !plan.isNarrowed || $0.speaks }
    let start = ContinuousClock.now
    let outcome = await Self.$current.withValue(number) { await self.call() }
    let time = ContinuousClock.now - start
    let seen = log.withLock { log in
      log.outcome = outcome
      log.returned = QuizClock.tick()
      return log
    }
    let certain = expected.filter { !$0.isEnding }
    let isLate = plan.form == .within && time >= .milliseconds(plan.milliseconds)
    let oracle = QuizOracle(
      question: self, certain: certain, seen: seen, outcome: outcome, mayBeLate: isLate)
    for fault in oracle.faults {
      report("\(fault)\n  outcome \(outcome), certain \(certain), mayBeLate \(isLate), \(time)")
    }
    world.quiz.count(self, seen, isLate)
    world.keep(self)
    relay.open()
    end.open()
    world.quiz.active.remove(self)
  }

  func report(_ fault: String) {
    world.quiz.report("\(fault)\n  \(self)", in: world)
  }

  /// Whether a handler has not ended.
  var isHandling: Bool {
    log.withLock { $0.stages.values.contains { if case .answered = $0 { false } else { true } } }
  }

  /// Looks at the handlers when none runs any more.
  func checkInTheEnd() {
    let log = log.withLock { $0 }
    for (serial, stage) in log.stages {
      guard case .answered = stage else {
        report("the handler of #\(serial) has not ended, but the hub is drained: \(stage)")
        continue
      }
    }
    if log.late > 0, !plan.mayEndEarly {
      report("\(log.late) handlers began after a call that waits for all of them had returned")
    }
  }
}

extension QuizQuestion: CustomStringConvertible {
  var description: String {
    let log = log.withLock { $0 }
    let stages = log.stages.sorted { $0.key < $1.key }.map { "#\($0.key) \($0.value)" }
    return "question \(number): \(plan)\n  "
      + (log.outcome.map { "returned \($0)" } ?? "has not returned")
      + "\(log.task?.isCancelled == true ? ", cancelled" : "")"
      + ", handlers: \(stages.joined(separator: ", "))"
  }
}

/// How a call came out.
enum QuizOutcome: Sendable {
  case decision(Bool)
  case replies([QuizReply])
  /// The results of `collect`, with the members whose subscriptions they name.
  case results([Result])
  case refused(QuizRefusal)

  struct Result: Sendable {
    let member: QuizRecord?
    let reply: QuizReply?
    let refusal: QuizRefusal?
    let isLate: Bool
  }
}
