/// Says what cannot be right about a question's outcome.
struct QuizOracle {
  let question: QuizQuestion
  /// Those that were subscribed before the call, and not about to be ended when it had returned.
  let certain: [QuizRecord]
  /// The log as of the return.
  let seen: QuizQuestion.Log
  let outcome: QuizOutcome
  /// Whether the deadline has come.
  let mayBeLate: Bool

  private var plan: QuizPlan { question.plan }
  private func said(_ answer: QuizAnswer) -> Set<Int> {
    Set(seen.stages.filter { $0.value == .answered(answer) }.keys)
  }
  private var answered: Set<Int> { said(.yes).union(said(.no)) }
  private var threw: Set<Int> { said(.threw) }
  private var finished: Set<Int> { answered.union(threw) }
  private var running: Set<Int> { Set(seen.stages.keys).subtracting(finished) }
  private var certainOnes: Set<Int> { Set(certain.map(\.serial)) }

  var faults: [String] {
    switch outcome {
    case .refused(let refusal): refusals(refusal)
    case .decision(let isTrue):
      switch plan.kind {
      case .unanimous: unanimous(isTrue)
      case .anyone: anyone(isTrue)
      default: majority(isTrue)
      }
    case .replies(let replies): all(replies)
    case .results(let results): collected(results)
    }
  }

  private func refusals(_ refusal: QuizRefusal) -> [String] {
    if !plan.throwsErrors { return ["it throws, but may not"] }
    if refusal.reply.question != question.number { return ["the error is of another question"] }
    return threw.contains(refusal.reply.serial) ? [] : ["an error that nobody threw"]
  }

  /// What is wrong if the call has returned though its outcome was not fixed before all had answered.
  private var incomplete: [String] {
    if mayBeLate { return [] }
    var faults: [String] = []
    if !running.isEmpty { faults.append("expected that \(running) had ended") }
    let missing = certainOnes.subtracting(finished)
    if !missing.isEmpty { faults.append("expected that \(missing) were asked, and had answered") }
    if plan.throwsErrors, !threw.isEmpty { faults.append("expected an error of \(threw)") }
    return faults
  }

  /// Whether a `value` may have been counted for one that threw or was late.
  private func mayHaveCounted(_ value: Bool) -> Bool {
    !plan.throwsErrors && plan.substitute == value && (!threw.isEmpty || mayBeLate)
  }

  private func unanimous(_ isTrue: Bool) -> [String] {
    if !isTrue {
      return said(.no).isEmpty && !mayHaveCounted(false) ? ["expected true: nobody said no"] : []
    }
    if mayBeLate { return [] }
    let isDenied = !said(.no).isEmpty || mayHaveCounted(false)
    return incomplete + (isDenied ? ["expected false"] : [])
  }

  private func anyone(_ isTrue: Bool) -> [String] {
    if isTrue {
      return said(.yes).isEmpty && !mayHaveCounted(true) ? ["expected false: nobody said yes"] : []
    }
    if mayBeLate { return [] }
    let isGranted = !said(.yes).isEmpty || mayHaveCounted(true)
    return incomplete + (isGranted ? ["expected true"] : [])
  }

  private func majority(_ isTrue: Bool) -> [String] {
    if mayBeLate { return [] }
    var (yes, no, absent) = (said(.yes).count, said(.no).count, 0)
    if !plan.throwsErrors {
      switch plan.substitute {
      case true: yes += threw.count
      case false: no += threw.count
      default: absent = threw.count
      }
    }
    let least = certain.count - absent
    if isTrue { return 2 * yes > least ? [] : ["expected false: \(yes) of \(least) say yes"] }
    return 2 * no >= least ? [] : ["expected true: \(no) of \(least) say no"]
  }

  private func all(_ replies: [QuizReply]) -> [String] {
    var faults = incomplete
    if replies.contains(where: { $0.question != question.number }) {
      faults.append("a reply of another question: \(replies)")
    }
    let serials = replies.map(\.serial).filter { $0 > 0 }
    faults += order(serials)
    let substituted = replies.count - serials.count
    if !Set(serials).isSubset(of: answered) { faults.append("replies nobody gave: \(serials)") }
    if !mayBeLate {
      if Set(serials) != answered { faults.append("expected the replies of \(answered)") }
      let expected = plan.throwsErrors || plan.substitute == nil ? 0 : threw.count
      if substituted != expected { faults.append("\(substituted) were counted for \(threw)") }
    } else if plan.substitute != nil, replies.count < certain.count {
      faults.append("expected \(certain.count) replies or more")
    }
    return faults
  }

  private func collected(_ results: [QuizOutcome.Result]) -> [String] {
    var faults = incomplete
    let serials = results.compactMap(\.member?.serial)
    if serials.count < results.count { faults.append("a reply of somebody unknown") }
    faults += order(serials)
    for result in results {
      guard let reply = result.reply ?? result.refusal?.reply else {
        if !result.isLate { faults.append("an error that nobody threw") }
        if result.isLate, !mayBeLate { faults.append("nobody was late") }
        continue
      }
      if reply.question != question.number { faults.append("a reply of another question") }
      if reply.serial != result.member?.serial { faults.append("a reply of another member") }
      let said = result.refusal == nil ? answered : threw
      if !said.contains(reply.serial) { faults.append("a reply that nobody gave: \(reply)") }
    }
    if !mayBeLate, Set(serials) != finished { faults.append("expected replies of \(finished)") }
    let missing = certainOnes.subtracting(serials)
    if !missing.isEmpty { faults.append("expected replies of \(missing)") }
    return faults
  }

  private func order(_ serials: [Int]) -> [String] {
    if Set(serials).count < serials.count { return ["two replies of one: \(serials)"] }
    let records = Dictionary(
      uniqueKeysWithValues: question.world.records.map { ($0.serial, $0) })
    let known = serials.compactMap { records[$0] }
    return known == known.sorted() ? [] : ["out of order: \(serials)"]
  }
}
