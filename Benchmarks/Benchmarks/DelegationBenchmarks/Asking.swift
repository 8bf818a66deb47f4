import Benchmark
import Delegation

/// Votes of objects and actors, granted and vetoed.
func asking() {
  for size in sizes {
    Benchmark("vote, \(size) objects") { benchmark, audience in
      blackHole(await audience.hub.vote((any Voter).self) { await $0.allows(-1) })
    } setup: {
      Audience.voters(size) { Member(forbidding: $0) }
    }
    Benchmark("vote, \(size) actors") { benchmark, audience in
      blackHole(await audience.hub.vote((any Voter).self) { await $0.allows(-1) })
    } setup: {
      Audience.voters(size) { Official(forbidding: $0) }
    }
  }
  Benchmark("vote, the first of 100 vetoes") { benchmark, audience in
    blackHole(await audience.hub.vote((any Voter).self) { await $0.allows(0) })
  } setup: {
    Audience.voters(100) { Member(forbidding: $0) }
  }
  Benchmark("collect, 100 objects") { benchmark, audience in
    blackHole(await audience.hub.collect((any Voter).self) { await $0.allows(-1) })
  } setup: {
    Audience.voters(100) { Member(forbidding: $0) }
  }
}
