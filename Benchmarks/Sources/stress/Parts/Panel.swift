import Delegation
import Synchronization

/// Who is asked.
protocol Panelist: AnyObject, Sendable {
  var number: Int { get }
  /// Whether it has been removed, and nobody may ask it.
  var isGone: Bool { get }
  func answer(_ inquiry: Inquiry) async throws -> Bool
}

extension Panelist {
  var isGone: Bool { false }
  func nod(_ inquiry: Inquiry) throws -> Bool { try inquiry.answer(of: self) }
}

/// A question, and what each who was asked has done: the outcome follows from that.
final class Inquiry: Sendable {
  enum Answer: Sendable, Hashable { case none, yes, no, refused }

  private let seed: UInt64
  private let mayRefuse: Bool
  private let maySleep: Bool
  private let log = Mutex<(answers: [Int: Answer], order: [Int], wrong: Set<String>)>(([:], [], []))

  init(_ seed: UInt64, mayRefuse: Bool, maySleep: Bool) {
    (self.seed, self.mayRefuse, self.maySleep) = (seed, mayRefuse, maySleep)
  }

  var answers: [Int: Answer] { log.withLock { $0.answers } }
  var order: [Int] { log.withLock { $0.order } }
  /// Whom it should not have asked.
  var wrong: Set<String> { log.withLock { $0.wrong } }
  func count(_ answer: Answer) -> Int { answers.values.count { $0 == answer } }

  private func begin(_ panelist: any Panelist) -> Dice {
    let (number, isGone) = (panelist.number, panelist.isGone)
    log.withLock { log in
      if isGone { log.wrong.insert("somebody was asked who had been removed") }
      if log.answers[number] != nil { log.wrong.insert("somebody was asked twice") }
      log.answers[number] = Answer.none
      log.order.append(number)
    }
    return Dice(seed: seed ^ (UInt64(truncatingIfNeeded: number) &* 0xD6E8_FEB8_6659_FD93))
  }

  /// Answers at once.
  func answer(of panelist: any Panelist) throws -> Bool {
    var dice = begin(panelist)
    return try end(panelist.number, &dice)
  }

  /// Answers after a while.
  nonisolated(nonsending) func answerLater(of panelist: any Panelist) async throws -> Bool {
    var dice = begin(panelist)
    switch dice.roll(maySleep ? 6 : 4) {
    case 0: await Task.yield()
    case 4: try? await Task.sleep(for: .microseconds(dice.roll(3000)))
    case 5:
      // Ends by being cancelled, at the deadline.
      try? await Task.sleep(for: .seconds(600))
    default: break
    }
    return try end(panelist.number, &dice)
  }

  private func end(_ number: Int, _ dice: inout Dice) throws -> Bool {
    let answer: Answer = mayRefuse && dice.hits(5) ? .refused : dice.hits(4) ? .no : .yes
    log.withLock { $0.answers[number] = answer }
    if answer == .refused { throw Refusal() }
    return answer == .yes
  }
}

/// Questions of every kind, whose outcomes have to follow from what was answered.
///
/// The hub counts each handler once. One place is taken over again and again: each question comes to it once.
final class Panel: Part {
  static let name = "panel"

  private final class Member: Panelist {
    private static let last = Counter()
    let number: Int
    private let life: Life
    private let gone = Atomic(false)

    init(_ world: World, number: Int = Member.last.add()) {
      self.number = number
      life = Life(in: world)
    }

    var isGone: Bool {
      get { gone.load(ordering: .acquiring) }
      set { gone.store(newValue, ordering: .releasing) }
    }
    func answer(_ inquiry: Inquiry) async throws -> Bool { try await inquiry.answerLater(of: self) }
  }

  private actor Official: Panelist {
    nonisolated let number = -1
    func answer(_ inquiry: Inquiry) async throws -> Bool { try await inquiry.answerLater(of: self) }
  }

  @MainActor
  private final class Chair: Panelist {
    nonisolated let number = -2
    func answer(_ inquiry: Inquiry) async throws -> Bool { try await inquiry.answerLater(of: self) }
    nonisolated init() {}
  }

  /// Whose place is taken over.
  private static let sitter = -3

  private let world: World
  private let regulars: [any Panelist]
  private let (begun, inquiries) = (Counter(), Counter())

  private var panel: Delegates<any Panelist> { world.hub[(any Panelist).self] }

  init(in world: World) {
    self.world = world
    regulars = [Member(world), Official(), Chair(), Member(world), Member(world)]
    for (index, regular) in regulars.enumerated() {
      panel.registry.subscribe(
        regular, priority: index - 2, hold: index == 3 ? .strongly : nil,
        on: index == 4 ? world.queue : nil)
    }
    takeSeat()
  }

  private func takeSeat() {
    panel.registry.subscribe(Member(world, number: Self.sitter), id: "seat", hold: .strongly)
    world.tally.count(.takeOver)
  }

  func run() async {
    await world.act(Self.name) { [self] index, dice in
      var visitor: Member? = Member(world)
      while world.limits.take() {
        switch dice.roll(13) {
        case 0, 1: visitor = dice.hits(2) ? Member(world) : nil
        case 2:
          visitor?.isGone = false
          if let visitor { panel.registry.subscribe(visitor, priority: dice.roll(5) - 2) }
        case 3:
          if let visitor { await world.hub.unsubscribeAndWait(visitor) }
          visitor?.isGone = true
        case 4: takeSeat()
        default: await ask(&dice)
        }
      }
      if let visitor { world.hub.unsubscribe(visitor) }
    }
  }

  private func ask(_ dice: inout Dice) async {
    let kind = dice.roll(10)
    let inquiry = Inquiry(
      dice.next(), mayRefuse: [1, 3, 7, 8, 9].contains(kind), maySleep: [3, 8].contains(kind))
    let duration = Duration.milliseconds(dice.roll(4))
    switch kind {
    case 0...3: await vote(kind, inquiry, within: duration)
    case 4...6: await askAll(kind, inquiry)
    default: await ask(kind, inquiry, within: duration)
    }
    inquiries.add()
    begun.add(inquiry.order.count)
    for problem in inquiry.wrong { check(false, problem) }
  }

  private func check(_ isTrue: Bool, _ violation: @autoclosure () -> String) {
    world.violations.check(isTrue, "panel: " + violation())
  }

  /// Those who are always there have all been asked, and nobody's answer is still to come.
  private func checkAll(_ inquiry: Inquiry, _ call: String) {
    let answers = inquiry.answers
    check(
      answers[Self.sitter] != nil && regulars.allSatisfy { answers[$0.number] != nil },
      "\(call) left somebody out")
    check(answers.values.allSatisfy { $0 != .none }, "\(call) did not wait for somebody")
  }

  private func vote(_ kind: Int, _ inquiry: Inquiry, within duration: Duration) async {
    world.tally.count(.vote)
    switch kind {
    case 0:
      let isPassed = await panel.vote(by: .atLeast(3), absent: .abstains) {
        try await $0.answer(inquiry)
      }
      check(isPassed == (inquiry.count(.yes) >= 3), "a vote by number came out wrong")
    case 1:
      do {
        let isPassed = try await panel.vote { try await $0.answer(inquiry) }
        if isPassed { checkAll(inquiry, "a unanimous vote") }
        check(
          isPassed
            ? inquiry.count(.no) + inquiry.count(.refused) == 0 : inquiry.count(.no) > 0,
          "a unanimous vote came out wrong")
      } catch {
        check(
          error is Refusal && inquiry.count(.refused) > 0, "a vote threw what nobody has thrown")
      }
    case 2:
      let isPassed = try? await panel.vote(by: .anyone) { try $0.nod(inquiry) }
      check(isPassed == (inquiry.count(.yes) > 0), "a synchronous vote came out wrong")
      if isPassed == false { checkAll(inquiry, "a synchronous vote that failed") }
    default:
      // The late count as a no: a yes is everybody's who is there.
      let isPassed = await panel.vote(within: duration, absent: .counts(as: false)) {
        try await $0.answer(inquiry)
      }
      // One whose subscription has ended by then is not there, even if its handler runs.
      let answers = inquiry.answers
      check(
        !isPassed
          || ([Self.sitter] + regulars.map(\.number)).allSatisfy { answers[$0] == .yes },
        "a vote with a deadline passed wrongly")
    }
  }

  /// Asks all, or until one has answered.
  private func askAll(_ kind: Int, _ inquiry: Inquiry) async {
    switch kind {
    case 4:
      world.tally.count(.ask)
      let sum = try? await panel.ask(combining: .sum()) { try await $0.answer(inquiry) ? 1 : 100 }
      checkAll(inquiry, "a sum")
      check(sum == inquiry.count(.yes) + 100 * inquiry.count(.no), "a sum is wrong")
    case 5:
      world.tally.count(.askInTurn)
      let found = try? await panel.askInTurn { try await $0.answer(inquiry) ? nil : $0.number }
      if let found = found.flatMap(\.self) {
        check(
          inquiry.order.last == found && inquiry.count(.no) == 1,
          "askInTurn asked on after an answer")
      } else {
        checkAll(inquiry, "askInTurn")
        check(inquiry.count(.no) == 0, "askInTurn missed an answer")
      }
    default:
      world.tally.count(.pass)
      let path = try? await panel.pass([Int]()) { panelist, path in
        _ = try await panelist.answer(inquiry)
        return path + [panelist.number]
      }
      checkAll(inquiry, "pass")
      check(path == inquiry.order, "what was passed on is not what each has made of it")
    }
  }

  /// Asks those of whom some may be late, or asks in a task that is cancelled meanwhile.
  private func ask(_ kind: Int, _ inquiry: Inquiry, within duration: Duration) async {
    if kind == 9 {
      world.tally.count(.ask)
      let task = Task { [panel] in
        await panel.ask(combining: .sum(), absent: .abstains) {
          try await $0.answer(inquiry) ? 1 : 0
        }
      }
      for _ in 0..<Int(duration / .milliseconds(1)) { await Task.yield() }
      task.cancel()
      check(
        await task.value <= inquiry.count(.yes), "a cancelled question counted what nobody said")
      return
    }
    world.tally.count(.collect)
    let replies = await panel.collect(within: kind == 7 ? nil : duration) {
      try await $0.answer(inquiry)
    }
    func count(_ isYes: Bool) -> Int { replies.count { (try? $0.result.get()) == isYes } }
    let refused = replies.count { (try? $0.result.get()) == nil }
    let (yes, no) = (count(true), count(false))
    let (wasYes, wasNo) = (inquiry.count(.yes), inquiry.count(.no))
    if kind == 7 {
      checkAll(inquiry, "collect")
      check(
        (yes, no, refused) == (wasYes, wasNo, inquiry.count(.refused)),
        "collect brought other replies than were given")
    } else {
      check(yes <= wasYes && no <= wasNo, "collect brought an answer nobody gave")
      check(
        duration == .zero || replies.count > regulars.count,
        "collect with a deadline left somebody out")
    }
  }

  func audit() {
    guard let questions = panel.statistics?.questions else { return }
    // Some were late before they had begun.
    check(
      (begun.value...(begun.value + questions.late)).contains(questions.asked),
      "\(begun.value) handlers have begun, the hub says \(questions)")
    for regular in regulars { world.hub.unsubscribe(regular) }
    panel.registry.unsubscribe(id: "seat")
  }

  var sum: String {
    guard let questions = panel.statistics?.questions else { return "nothing was asked" }
    return "\(inquiries.value.short) questions, \(questions.asked.short) asked = "
      + "\(questions.answered.short) answered + \(questions.failed.short) failed + "
      + "\(questions.late.short) late + \(questions.abandoned.short) abandoned"
  }
}
