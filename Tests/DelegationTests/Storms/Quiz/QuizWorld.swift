import Dispatch
import Synchronization

@testable import Delegation

/// A hub, its members, and what is known of both.
final class QuizWorld: Sendable {
  struct Entry: Sendable {
    let member: QuizMember
    let record: QuizRecord
    let subscription: DelegateHub.Subscription
  }

  private struct State: Sendable {
    var serial = 0
    /// Those that nobody has begun to end.
    var entries: [Entry] = []
    var records: [QuizRecord] = []
    var bySubscription: [DelegateHub.Subscription: QuizRecord] = [:]
    var questions: [QuizQuestion] = []
  }

  let seed: UInt64
  let quiz: Quiz
  let hub: DelegateHub
  /// The executor that the hub has, if it has one.
  let executor: (any TaskExecutor)?
  let queue = DispatchQueue(label: "quiz")
  private let state = Lock(State())

  init(seed: UInt64, in quiz: Quiz) {
    self.seed = seed
    self.quiz = quiz
    switch seed % 5 {
    case 0: executor = Quiz.pool
    case 1: executor = DispatchQueueExecutor(DispatchQueue(label: "hub"))
    default: executor = nil
    }
    hub = DelegateHub(
      DelegateHub.Configuration(
        executor: executor, onIncident: { _ in }, slowAfter: seed % 7 == 3 ? .seconds(60) : nil))
    var dice = Dice(seed: seed)
    join(priority: 5, speaks: true, place: .anywhere, isAnchor: true)
    join(priority: -5, speaks: true, place: .anywhere, isAnchor: true)
    for _ in 0..<3 { join(&dice) }
  }

  // MARK: Members

  /// Has a new member subscribe.
  func join(_ dice: inout Dice) {
    let places = seed % 3 == 0 ? QuizRecord.Place.allCases : [.anywhere]
    join(
      priority: dice.roll(5) - 2, speaks: dice.roll(3) > 0,
      place: places[dice.roll(places.count)], isAnchor: false,
      hold: dice.roll(6) == 0 ? .strongly : .weakly)
  }

  private func join(
    priority: Int, speaks: Bool, place: QuizRecord.Place, isAnchor: Bool,
    hold: DelegateHub.Hold = .weakly
  ) {
    // Under the lock, so that the serial numbers are in the order of the subscriptions.
    state.withLock { state in
      state.serial += 1
      let record = QuizRecord(
        serial: state.serial, priority: priority, speaks: speaks, place: place, isAnchor: isAnchor)
      let member = speaks ? QuizSpeakingMember(record) : QuizMember(record)
      let subscription: DelegateHub.Subscription
      switch place {
      case .anywhere:
        subscription = hub.subscribe(member, to: QuizVoter.self, priority: priority, hold: hold)
      case .pool:
        subscription = hub.subscribe(
          member, to: QuizVoter.self, priority: priority, hold: hold, on: Quiz.otherPool)
      case .queue:
        subscription = hub.subscribe(
          member, to: QuizVoter.self, priority: priority, hold: hold, on: queue)
      }
      state.entries.append(Entry(member: member, record: record, subscription: subscription))
      state.records.append(record)
      state.bySubscription[subscription] = record
    }
  }

  /// Those that are subscribed, and that nobody has begun to end.
  var present: [QuizRecord] {
    state.withLock { $0.entries.map(\.record) }.filter { !$0.isEnding }
  }

  /// Everybody who was ever there.
  var records: [QuizRecord] { state.withLock { $0.records } }

  func record(of subscription: DelegateHub.Subscription) -> QuizRecord? {
    state.withLock { $0.bySubscription[subscription] }
  }

  /// Takes out a member that is to be ended: that one, or any.
  func take(_ record: QuizRecord? = nil, _ choice: Int = 0) -> Entry? {
    let entry = state.withLock { state -> Entry? in
      let candidates = state.entries.indices.filter { index in
        let candidate = state.entries[index].record
        return !candidate.isAnchor && (record == nil || candidate === record)
      }
      guard !candidates.isEmpty else { return nil }
      return state.entries.remove(at: candidates[choice % candidates.count])
    }
    guard let entry, entry.record.beginEnding() else { return nil }
    return entry
  }

  /// Lets go of a member, which dies of that if the hub does not keep it.
  func drop(_ record: QuizRecord? = nil, _ choice: Int = 0) {
    withExtendedLifetime(take(record, choice)) {}
  }

  func cancel(_ record: QuizRecord? = nil, _ choice: Int = 0) {
    guard let entry = take(record, choice) else { return }
    entry.subscription.cancel()
    entry.record.noteEnded()
  }

  /// Ends a subscription within a handler, which is not waited for.
  func cancelAndWait(_ record: QuizRecord? = nil, _ choice: Int = 0) async {
    guard let entry = take(record, choice) else { return }
    await entry.subscription.cancelAndWait()
    entry.record.noteEnded()
  }

  /// Does something to the members, outside of all handlers.
  func stir(_ dice: inout Dice) async {
    let (choice, number) = (dice.roll(1000), dice.roll(60))
    switch number {
    case 0, 1: drop(nil, choice)
    case 2, 3: cancel(nil, choice)
    case 4, 5, 6:
      if let entry = take(nil, choice) {
        await entry.subscription.cancelAndWait()
        let running = entry.record.running.load(ordering: .sequentiallyConsistent)
        entry.record.isSilenced.store(true, ordering: .sequentiallyConsistent)
        entry.record.noteEnded()
        if running != 0 {
          quiz.report("\(running) handlers of \(entry.record) run after cancelAndWait()", in: self)
        }
      }
    case 7, 8: hub[QuizVoter.self].notify() { _ in await Task.yield() }
    case 9: _ = await hub.statistics()
    case 10: _ = await hub.drain(within: .milliseconds(1))
    default: break
    }
    let count = state.withLock { $0.entries.count }
    if count < 5 || (count < 9 && number > 55) { join(&dice) }
  }

  // MARK: Ending

  func keep(_ question: QuizQuestion) {
    state.withLock { $0.questions.append(question) }
  }

  /// Looks at everything once the callers have gone, and lets go of the members.
  func end() async {
    quiz.phases.begin("drain", in: self, for: state.withLock { $0.questions })
    let left = await hub.drain()
    if !left.isEmpty { quiz.report("drain() returned with \(left)", in: self) }
    quiz.phases.begin("statistics", in: self)
    for item in await hub.statistics().protocols {
      for subscriber in item.subscribers where subscriber.running != 0 {
        quiz.report("after drain(): \(subscriber)", in: self)
      }
    }
    for record in records where record.running.load(ordering: .sequentiallyConsistent) != 0 {
      quiz.report("a handler of \(record) runs after drain()", in: self)
    }
    let questions = state.withLock { state in
      defer { state.questions = [] }
      return state.questions
    }
    for question in questions { question.checkInTheEnd() }
    let entries = state.withLock { state in
      defer {
        state.entries = []
        state.bySubscription = [:]
      }
      return state.entries
    }
    withExtendedLifetime(entries) {}
    quiz.phases.end(in: self)
  }
}
