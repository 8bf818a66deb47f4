import Delegation
import Foundation
import Synchronization

/// One run of the program, from the first subscription to the accounts.
struct Run: Sendable {
  static let parts: [any Part.Type] = [
    Crowd.self, Receipts.self, Panel.self, Wires.self, Room.self, Ends.self,
  ]

  static var names: [String] { parts.map { $0.name } }

  let seed: UInt64
  var tasks = 8
  var threads = 2
  var duration: Duration?
  var events: Int?
  var only = ""
  /// For how many seconds a run may stand still, with three more to say so.
  static let patience = 15.0

  /// What came of a run.
  struct Report: Sendable {
    /// What does not add up or must not have happened.
    let problems: [String]
    /// All of it, in words, on one screen.
    let text: String
  }

  /// Does it all.
  ///
  /// `@concurrent`, because each hop from the main thread would cost a thread switch.
  @concurrent
  func conduct() async -> Report {
    let world = World(
      seed: seed, tasks: tasks, threads: threads,
      limits: Limits(duration: duration, events: events))
    let start = ContinuousClock.now
    let watchdog = Watchdog(over: world.limits, patience: Self.patience) { names in
      let names = names.joined(separator: ", ")
      print("STANDS STILL: \(names)")
      fflush(nil)
      // The report asks the hub, whose locks may be what stands still.
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: 3)
        _exit(1)
      }
      world.violations.check(false, "stands still: \(names)")
      print(report(world, sums(world), ContinuousClock.now - start).text)
      fflush(nil)
      _exit(1)
    }
    let looker = watch(world)
    let chosen = Self.parts.filter { only.isEmpty || $0.name.contains(only) }
    world.parts.withLock { $0 = chosen.map { $0.init(in: world) } }
    await withTaskGroup { group in
      for part in world.parts.withLock(\.self) {
        group.addTask { await watchdog.during(type(of: part).name) { await part.run() } }
      }
    }
    let leftovers = await watchdog.during("drain") {
      await world.hub.drain(within: .seconds(10))
    }
    world.violations.check(leftovers.isEmpty, "the hub did not come to rest: \(leftovers)")
    for part in world.parts.withLock(\.self) {
      await watchdog.during("the audit of \(type(of: part).name)") { await part.audit() }
    }
    looker.cancel()
    await looker.value
    let (lines, duration) = (sums(world), ContinuousClock.now - start)
    world.parts.withLock { $0 = [] }
    await watchdog.during("end") { await checkEnd(of: world) }
    watchdog.end()
    return report(world, lines, duration)
  }

  /// A row of each part, and what waits.
  private func sums(_ world: World) -> [String] {
    let waiting = world.hub.statistics().protocols.compactMap { item -> String? in
      let (waiting, running) = (item.counts.waiting, item.counts.handling)
      let answering = item.questions.answering
      return waiting + running + answering == 0
        ? nil : "\(item.name) \(waiting) waiting, \(running) handling, \(answering) answering"
    }
    return world.parts.withLock(\.self).map { wrapped(type(of: $0).name, $0.sum) }
      + (waiting.isEmpty ? [] : [wrapped("waits", waiting.joined(separator: "; "))])
  }

  /// Looks again and again whether the sums are right at that very moment.
  private func watch(_ world: World) -> Task<Void, Never> {
    Task {
      while !Task.isCancelled {
        let statistics = world.hub.statistics()
        for item in statistics.protocols {
          world.violations.check(
            item.counts.addressed == item.addressed,
            "\(item.name): the counts do not add up to addressed")
          let all = [item.counts] + item.subscribers.map(\.counts)
          world.violations.check(
            all.allSatisfy {
              min($0.handled, $0.failed, $0.expired, $0.dropped) >= 0
                && min($0.cancelled, $0.passedOver, $0.waiting, $0.handling) >= 0
            }, "\(item.name): a count is negative")
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Checks what has to hold of all parts together, when nothing goes on.
  private func checkEnd(of world: World) async {
    let statistics = world.hub.statistics()
    let counts = statistics.counts
    world.violations.check(
      counts.waiting == 0 && counts.handling == 0, "something waits at the end: \(counts)")
    world.violations.check(
      statistics.questions.answering == 0, "somebody still answers: \(statistics.questions)")
    // When too many incidents wait, the hub leaves some out, and says how many but not of what kind.
    let reported = world.reported.value
    world.violations.check(
      (reported...(reported + world.leftOut.value)).contains(counts.failed),
      "\(counts.failed) failed, the program was told of \(reported) and of "
        + "\(world.leftOut.value) incidents that were left out")
    // The one who ran a handler last may be just about to let go.
    for _ in 0..<200 where world.alive.value > 0 { try? await Task.sleep(for: .milliseconds(10)) }
    world.violations.check(
      world.alive.value == 0, "\(world.alive.value) subscribers were kept in memory")
  }

  private func report(_ world: World, _ lines: [String], _ duration: Duration) -> Report {
    let problems = world.violations.list
    let missing = world.tally.missing
    let untried =
      only.isEmpty && !missing.isEmpty
      ? [wrapped("not done", missing.joined(separator: ", "), at: ", ")] : []
    let verdict =
      problems.isEmpty
      ? "all accounts add up"
      : "WRONG\n" + problems.prefix(20).map { "  " + $0 }.joined(separator: "\n")
    let rows =
      [
        "run       seed \(seed), \(tasks) tasks a part and \(threads) threads, "
          + String(format: "%.1f s", duration / .seconds(1))
      ] + lines + [
        wrapped("calls", world.tally.text(Tally.Call.self), at: ", "),
        wrapped("kinds", world.tally.text(Tally.Kind.self), at: ", "),
        wrapped("endings", world.tally.text(Tally.Ending.self), at: ", "),
      ] + untried + ["verdict   " + verdict]
    return Report(problems: problems, text: rows.joined(separator: "\n"))
  }

  /// A row of at most 100 columns, and what does not fit below it.
  private func wrapped(_ name: String, _ text: String, at separator: String = " ") -> String {
    let margin = String(repeating: " ", count: 10)
    var rows = [(name + margin).prefix(10)]
    for word in text.split(separator: separator) {
      if rows[rows.count - 1].count + word.count > 99 { rows.append(margin[...]) }
      rows[rows.count - 1] += word + separator
    }
    return rows.map { String($0.dropLast(separator.count)) }.joined(separator: "\n")
  }
}
