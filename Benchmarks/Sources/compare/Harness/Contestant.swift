/// Somebody who does what a contest is about, by a name.
struct Contestant: Sendable {
  /// What the table calls it.
  let name: String
  /// How many of the contest's units (votes, deliveries, …) one iteration is.
  var units: Int
  /// How many iterations a turn has at least, however long one takes: for those that measure only
  /// a small part of what they do.
  var leastIterations = 1
  /// Runs iterations and returns the time they took, set-up and waiting for rest left out.
  let run: @Sendable (_ iterations: Int) async -> Nanoseconds

  /// A contestant who keeps the time itself, because only a part of what it does is to be measured.
  ///
  /// - Parameters:
  ///   - name: what the table calls it.
  ///   - units: how many of the contest's units one iteration is.
  ///   - subscribers: kept alive as long as the contestant, for everybody here holds them weakly.
  ///   - timing: runs iterations and returns the time of the part that counts.
  init(
    _ name: String, units: Int, keeping subscribers: [any Sendable],
    timing: @escaping @Sendable (_ iterations: Int) async -> Nanoseconds
  ) {
    self.name = name
    self.units = units
    self.run = { iterations in
      let time = await timing(iterations)
      withExtendedLifetime(subscribers) {}
      return time
    }
  }

  /// A contestant of whom everything counts.
  ///
  /// - Parameters:
  ///   - name: what the table calls it.
  ///   - units: how many of the contest's units one iteration is.
  ///   - subscribers: kept alive as long as the contestant.
  ///   - work: runs iterations.
  init(
    _ name: String, units: Int, keeping subscribers: [any Sendable],
    work: @escaping @Sendable (_ iterations: Int) async -> Void
  ) {
    self.init(
      name, units: units, keeping: subscribers,
      timing: { iterations in await stopwatch { await work(iterations) } })
  }
}
