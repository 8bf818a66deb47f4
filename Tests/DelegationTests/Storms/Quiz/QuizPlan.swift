@testable import Delegation

/// What a question asks, how, and what its handlers are to do.
struct QuizPlan: Sendable {
  /// What is asked for.
  enum Kind: Sendable, CaseIterable {
    case unanimous, anyone, majority, all, collect
  }

  /// Which overload asks.
  enum Form: Sendable, CaseIterable {
    /// A closure that awaits nothing.
    case inPlace
    /// One that awaits.
    case awaiting
    /// With `absent:` and without a deadline.
    case absent
    /// With a deadline.
    case within
  }

  /// What it is that ends the question.
  enum Mode: Sendable, CaseIterable {
    /// All answer by themselves.
    case calm
    /// All answer, some of them after the last one has been asked.
    case relayed
    /// An answer that is sure to come decides; others hang.
    case decided
    /// The deadline; others hang.
    case deadline
    /// The caller is cancelled; others hang, or spin.
    case cancelled
  }

  /// The executor that the caller prefers.
  enum Preference: Sendable, CaseIterable {
    case none, pool, hub
  }

  var seed: UInt64
  var kind = Kind.unanimous
  var form = Form.awaiting
  var mode = Mode.calm
  var isNarrowed = false
  var preference = Preference.none
  var priority = TaskPriority.medium
  var milliseconds = 1
  /// What is counted for one that throws or is late.
  var substitute: Bool?
  /// Whether handlers may wait for the ends of subscriptions.
  var mayWait = false
  /// After how many turns the caller is cancelled though nobody hangs; `nil` for never.
  var cancelledAfter: Int?
  /// Whether handlers may keep their threads until the caller is cancelled, once they have suspended: before that one in
  /// the caller's place does not see it.
  ///
  /// Nothing may end such a question before: the hub's executor would cancel them then, and it may be
  /// its only thread that they keep.
  var maySpin = false
  var isNested = false

  /// Makes a plan.
  init(seed: UInt64, isNested: Bool = false) {
    self.seed = seed
    self.isNested = isNested
    var dice = Dice(seed: seed)
    kind = Kind.allCases[dice.roll(5)]
    form = Form.allCases[dice.roll(4)]
    if kind == .collect, form == .absent { form = .awaiting }
    isNarrowed = dice.roll(4) == 0
    substitute = [nil, true, false][dice.roll(3)]
    milliseconds = [0, 1, 1, 2, 5, 60_000][dice.roll(6)]
    if isNested { return }
    preference = dice.roll(4) == 0 ? Preference.allCases[dice.roll(3)] : .none
    priority = [.low, .medium, .medium, .high][dice.roll(4)]
    mode = Self.mode(for: kind, form, &dice)
    if mode == .deadline { milliseconds = min(milliseconds, 5) }
    maySpin =
      mode == .cancelled && form != .within && form != .inPlace && kind != .majority
      && dice.roll(2) == 0
    mayWait = mode == .calm && dice.roll(3) == 0
    cancelledAfter = dice.roll(12) == 0 ? dice.roll(40) : nil
  }

  private static func mode(for kind: Kind, _ form: Form, _ dice: inout Dice) -> Mode {
    var modes: [Mode] = [.calm, .calm, .cancelled]
    if form != .inPlace { modes += [.relayed] }
    if form == .within { modes += [.deadline, .deadline] }
    switch kind {
    case .unanimous, .anyone: modes += [.decided, .decided]
    case .all: modes += form == .inPlace || form == .awaiting ? [.decided] : []
    case .majority, .collect: break
    }
    return modes[dice.roll(modes.count)]
  }

  /// Whether an answer may fix the outcome before the others have come.
  var mayEndEarly: Bool {
    if form == .within { return true }
    switch kind {
    case .unanimous, .anyone, .majority: return true
    case .all: return form != .absent
    case .collect: return false
    }
  }

  /// Whether the first error fails the call.
  var throwsErrors: Bool { kind != .collect && (form == .inPlace || form == .awaiting) }

  /// What the question's handler does on a member.
  func act(of record: QuizRecord) -> QuizAct {
    var dice = Dice(seed: seed &+ UInt64(record.serial) &* 0x2545_F491_4F6C_DD1D)
    let isSynchronous = form == .inPlace
    var act = QuizAct()
    act.answer = answer(&dice)
    if record.isAnchor {
      if mode == .decided, record.priority < 0 { act.answer = decidingAnswer }
      if mode == .relayed, record.priority < 0 { act.opensRelay = true }
      act.hold = isSynchronous ? .none : [.none, .yields(dice.roll(3)), .hop][dice.roll(3)]
      return act
    }
    act.deed = QuizAct.deed(&dice, in: self)
    act.hold = QuizAct.hold(&dice, in: self)
    return act
  }

  private func answer(_ dice: inout Dice) -> QuizAnswer {
    if maySpin { return kind == .anyone ? .no : .yes }
    let chance = dice.roll(100)
    // Most questions are to be asked to their ends.
    let often = dice.roll(2) == 0 ? 3 : 0
    if chance < 4 + often { return .threw }
    if chance < 10 + often { return kind == .anyone ? .yes : .no }
    return kind == .anyone ? .no : .yes
  }

  private var decidingAnswer: QuizAnswer {
    switch kind {
    case .unanimous: .no
    case .anyone: .yes
    default: .threw
    }
  }
}

extension QuizPlan: CustomStringConvertible {
  var description: String {
    "\(isNested ? "nested " : "")\(kind) \(form) \(mode)\(isNarrowed ? " narrowed" : "")"
      + " preferring \(preference)\(form == .within ? " within \(milliseconds) ms" : "")"
      + " absent \(substitute.map { "\($0)" } ?? "abstains")"
      + "\(mayWait ? " waits" : "")\(cancelledAfter.map { " cancelled after \($0)" } ?? "")"
      + " seed \(seed)"
  }
}

/// What a handler says in the end.
enum QuizAnswer: Sendable {
  case yes, no, threw
}

/// What a handler does.
struct QuizAct: Sendable {
  /// What it waits for.
  enum Hold: Sendable {
    case none
    case yields(Int)
    /// A continuation that another task resumes.
    case resumed
    /// Another actor.
    case hop
    /// The handler of the last member.
    case relay
    /// The end of the question's call.
    case untilReturn
    case untilCancelled
    /// Keeps its thread until it is cancelled.
    case spin
  }

  /// What it does before.
  enum Deed: Sendable {
    case none
    case notify, subscribe, dies, othersDie, cancelsItself, cancelsOther
    case endsItself, endsOther, asks, drains
  }

  var answer = QuizAnswer.yes
  var deed = Deed.none
  var hold = Hold.none
  var opensRelay = false

  static func deed(_ dice: inout Dice, in plan: QuizPlan) -> Deed {
    if plan.isNested || dice.roll(10) > 0 { return .none }
    var deeds: [Deed] = [
      .notify, .subscribe, .dies, .othersDie, .cancelsItself, .cancelsOther,
    ]
    if plan.form != .inPlace { deeds += [.asks, .asks, .drains] }
    if plan.form != .inPlace, plan.mayWait { deeds += [.endsItself, .endsOther, .endsOther] }
    return deeds[dice.roll(deeds.count)]
  }

  static func hold(_ dice: inout Dice, in plan: QuizPlan) -> Hold {
    if plan.form == .inPlace { return .none }
    let usual: Hold = [.none, .none, .yields(1 + dice.roll(3)), .resumed, .hop][dice.roll(5)]
    if plan.isNested || dice.roll(3) > 0 { return usual }
    switch plan.mode {
    case .calm: return usual
    case .relayed: return .relay
    case .decided, .deadline: return dice.roll(2) == 0 ? .untilReturn : .untilCancelled
    case .cancelled:
      return plan.maySpin && dice.roll(3) == 0 ? .spin : .untilCancelled
    }
  }
}
