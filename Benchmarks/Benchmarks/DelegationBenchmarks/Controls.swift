import Benchmark

/// An actor that does next to nothing.
private actor Counter {
  private(set) var count = 0

  func increment() { count += 1 }
}

/// What the machine does without any library: if these have changed, so has all the rest.
func controls() {
  Benchmark("control: 1,000 hops to an actor") { benchmark, counter in
    for _ in 0..<1000 { await counter.increment() }
  } setup: {
    Counter()
  }
  Benchmark("control: 100 tasks, one after another") { benchmark in
    for _ in 0..<100 { await Task {}.value }
  }
  Benchmark("control: 1,000 votes in a plain loop") { benchmark, members in
    var granted = 0
    for member in members where await member.allows(-1) { granted += 1 }
    blackHole(granted)
  } setup: {
    (0..<1000).map { Member(forbidding: $0) }
  }
}
