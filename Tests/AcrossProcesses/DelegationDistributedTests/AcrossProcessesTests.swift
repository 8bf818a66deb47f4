import Delegation
import DelegationDistributed
import PipeCluster
import Testing

/// Votes and notifications among a process and its peers.
@Suite("Across processes", .timeLimit(.minutes(10)))
struct AcrossProcessesTests {
  @Test("here and there are asked alike, and one no denies, wherever it is said")
  func vote() async throws {
    try await Cluster.runWithOne { cluster, _, remote, hub, porter in
      let local = Doorman(actorSystem: cluster.system)
      hub.subscribe(local, to: Gatekeeper.self)
      for (guest, expected) in [(Guest.welcome, true), (Guest.unwelcome, false)] {
        let answer = try await hub[Gatekeeper.self].vote(by: .unanimous) {
          try await $0.mayEnter(guest)
        }
        #expect(answer == expected)
      }
      hub.unsubscribe(porter)
      hub.unsubscribe(id: local.id)
      #expect(
        try await !hub[Gatekeeper.self].vote { try await $0.mayEnter(Guest.unwelcome) })
      #expect(porter.asked.events.contains(Guest.welcome))
      #expect(try await remote.guests(atLeast: 1).first == Guest.welcome)
    }
  }

  @Test("an error on the other side fails the call, or counts as `absent:` says")
  func errors() async throws {
    try await Cluster.runWithOne { _, _, _, hub, porter in
      hub.unsubscribe(porter)
      await #expect(throws: PipeError.thrown("Perplexed()")) {
        try await hub[Gatekeeper.self].vote { try await $0.mayEnter(Guest.impossible) }
      }
      for counted in [false, true] {
        let answer = await hub[Gatekeeper.self].vote(absent: .counts(as: counted)) {
          try await $0.mayEnter(Guest.impossible)
        }
        #expect(answer == counted)
      }
    }
  }

  @Test("notifications come to each in one order, here and there, from several posters")
  func order() async throws {
    try await Cluster.run { cluster in
      let (hub, porter) = (DelegateHub(), Porter())
      hub.subscribe(porter, to: Gatekeeper.self)
      var remote: [Stub] = []
      for _ in 0..<2 { remote += try await cluster.start(gatekeepers: 2).gatekeepers }
      for gatekeeper in remote { hub.subscribe(gatekeeper, to: Gatekeeper.self) }
      let (posters, each) = (3, 20)
      await withTaskGroup { group in
        for poster in 0..<posters {
          group.addTask {
            for number in 0..<each {
              hub[Gatekeeper.self].notify { try await $0.didEnter(poster * each + number) }
            }
          }
        }
      }
      await hub.drain()
      let history = porter.entered.events
      #expect(history.sorted() == Array(0..<posters * each))
      for poster in 0..<posters {
        let own = history.filter { $0 / each == poster }
        #expect(own == own.sorted())
      }
      for gatekeeper in remote { #expect(try await gatekeeper.entered() == history) }
      let counts = hub.statistics().counts
      #expect(counts.handled == posters * each * 5 && counts.addressed == counts.handled)
    }
  }
}
