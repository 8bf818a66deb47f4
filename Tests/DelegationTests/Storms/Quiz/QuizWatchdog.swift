import Foundation
import Synchronization

@testable import Delegation

/// A gate that stays open.
final class QuizGate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var inside: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.inside.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let inside = state.withLock { state in
      defer { state.inside = [] }
      state.isOpen = true
      return state.inside
    }
    for continuation in inside { continuation.resume() }
  }
}

/// The questions that are being asked.
final class QuizActive: Sendable {
  private let questions = Lock<[Int: QuizQuestion]>([:])

  func insert(_ question: QuizQuestion) {
    questions.withLock { $0[question.number] = question }
  }

  func remove(_ question: QuizQuestion) {
    let removed = questions.withLock { $0.removeValue(forKey: question.number) }
    withExtendedLifetime(removed) {}
  }

  var all: [QuizQuestion] { questions.withLock { Array($0.values) } }
}

/// What the worlds do whose questions are over.
final class QuizPhases: Sendable {
  struct Phase: Sendable {
    let name: String
    let start: ContinuousClock.Instant
    /// The questions whose handlers it waits for.
    let questions: [QuizQuestion]
  }

  private let phases = Lock<[UInt64: Phase]>([:])

  func begin(_ name: String, in world: QuizWorld, for questions: [QuizQuestion] = []) {
    let phase = Phase(name: name, start: .now, questions: questions)
    let former = phases.withLock { $0.updateValue(phase, forKey: world.seed) }
    withExtendedLifetime(former) {}
  }

  func end(in world: QuizWorld) { end(of: world.seed) }

  func end(of seed: UInt64) {
    let former = phases.withLock { $0.removeValue(forKey: seed) }
    withExtendedLifetime(former) {}
  }

  var all: [UInt64: Phase] { phases.withLock { $0 } }
}

/// Cancels callers on a thread of its own, for handlers may keep all others.
final class QuizCanceller: Sendable {
  private struct Request: Sendable {
    let question: QuizQuestion
    let turns: Int
  }

  private let requests = Lock<[Request]>([])
  private let isStopped = Atomic<Bool>(false)
  private let signal = DispatchSemaphore(value: 0)

  init() {
    let thread = Thread { self.work() }
    thread.start()
  }

  func cancel(_ question: QuizQuestion, after turns: Int) {
    requests.withLock { $0.append(Request(question: question, turns: turns)) }
    signal.signal()
  }

  func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    signal.signal()
  }

  private func work() {
    while true {
      signal.wait()
      if isStopped.load(ordering: .sequentiallyConsistent) { return }
      guard let request = requests.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
        continue
      }
      for _ in 0..<request.turns { Threads.pause() }
      cancel(request.question)
    }
  }

  private func cancel(_ question: QuizQuestion) {
    while true {
      let (task, isOver) = question.log.withLock { ($0.task, $0.returned > 0) }
      if let task { return task.cancel() }
      if isOver { return }
      Threads.pause()
    }
  }
}

/// Finds what hangs: says what it is, lets it go, and stops the program if it hangs even so.
final class QuizWatchdog: Sendable {
  /// Far from what a question takes on any machine.
  static let limit = Duration.seconds(40)

  private let quiz: Quiz
  private let isStopped = DispatchSemaphore(value: 0)

  init(_ quiz: Quiz) {
    self.quiz = quiz
    let thread = Thread { self.work() }
    thread.start()
  }

  func stop() { isStopped.signal() }

  private func work() {
    var alarm: ContinuousClock.Instant?
    while isStopped.wait(timeout: .now() + .seconds(1)) == .timedOut {
      let now = ContinuousClock.now
      if let alarm {
        letGo()
        if now - alarm > Self.limit { fatalError("hangs even though it was let go") }
        continue
      }
      let questions = quiz.active.all.filter { now - $0.start > Self.limit }
      let phases = quiz.phases.all.filter { now - $0.value.start > Self.limit }
      if questions.isEmpty, phases.isEmpty { continue }
      alarm = now
      let texts =
        questions.sorted { $0.number < $1.number }.map { "world \($0.world.seed) hangs: \($0)" }
        + phases.map { "world \($0.key) hangs: \($0.value.name)\n  \(Self.waiting($0.value))" }
      quiz.report(texts)
      // In case the program has to be stopped.
      FileHandle.standardError.write(Data((texts.joined(separator: "\n") + "\n").utf8))
    }
  }

  /// The questions of a phase that have a handler that has not ended.
  private static func waiting(_ phase: QuizPhases.Phase) -> String {
    phase.questions.filter(\.isHandling).map(\.description).joined(separator: "\n  ")
  }

  /// Lets all go that hang or will.
  private func letGo() {
    for question in quiz.active.all + quiz.phases.all.values.flatMap(\.questions) {
      question.log.withLock { $0.task }?.cancel()
      question.release()
    }
  }
}
