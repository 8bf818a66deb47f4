import Delegation
import DelegationDistributed
import DelegationTesting
import Foundation
import PipeCluster
import Testing

/// Peers that are killed, stopped, and come back.
@Suite("Lost peers", .timeLimit(.minutes(10)))
struct LostPeerTests {
  /// Far more than a loaded machine needs, and what a vote would take if nothing were noticed.
  static let patience = Duration.seconds(120)

  private static func question(
    _ guest: String
  ) -> @Sendable (any Gatekeeper) async throws -> Bool {
    { try await $0.mayEnter(guest) }
  }

  @Test(
    "a peer killed in a vote has failed, and counts as `absent:` says", arguments: [true, false])
  func killed(abstains: Bool) async throws {
    try await Cluster.runWithOne { _, peer, remote, hub, _ in
      let question = Self.question(Guest.unanswered)
      async let vote = hub[Gatekeeper.self].vote(
        within: Self.patience, absent: abstains ? .abstains : .counts(as: false),
        question)
      async let replies = hub[Gatekeeper.self].collect(within: Self.patience, question)
      _ = try await remote.guests(atLeast: 2)
      peer.signal(SIGKILL)
      let answer = await vote
      #expect(answer == abstains)
      #expect(await replies.map { $0.result.error as? PipeError } == [nil, .connectionLost])
      #expect(await hub.drain(within: Self.patience).isEmpty)
    }
  }

  @Test("a peer that stands still is late at the deadline, and asked again when it goes on")
  func stopped() async throws {
    let clock = ManualClock()
    try await Cluster.runWithOne({ $0.clock = clock }) { _, peer, remote, hub, porter in
      // The connection is there before the peer stops.
      #expect(try await remote.guests(atLeast: 0) == [])
      await peer.stop()
      let asked = Recorder<Void>()
      let question = { @Sendable (gatekeeper: any Gatekeeper) async throws in
        asked.record(())
        return try await gatekeeper.mayEnter(Guest.welcome)
      }
      // Time passes when both have been asked.
      let deadline = Duration.milliseconds(300)
      async let answer = hub[Gatekeeper.self].vote(
        within: deadline, absent: .counts(as: false), question)
      _ = await asked.events(atLeast: 2)
      clock.advance(by: deadline)
      #expect(await !answer)
      async let replies = hub[Gatekeeper.self].collect(within: deadline, question)
      _ = await asked.events(atLeast: 4)
      clock.advance(by: deadline)
      let last = try #require(await replies.last)
      #expect(last.subscriber.contains("\(remote.id)"))
      #expect(last.result.error as? DelegateHub.ReplyError == .timedOut)
      #expect(porter.asked.events == [Guest.welcome, Guest.welcome])
      // The engine ignores cancellation: the calls end when the peer answers, and not before.
      #expect(await !hub.drain(within: .zero).isEmpty)
      peer.signal(SIGCONT)
      await hub.drain()
      #expect(try await hub[Gatekeeper.self].vote(Self.question(Guest.welcome)))
      #expect(try await remote.guests(atLeast: 3) == Array(repeating: Guest.welcome, count: 3))
    }
  }

  @Test("a notification to a dead peer is reported as failed, and harms nobody else")
  func notifications() async throws {
    let reports = Recorder<PipeError?>()
    try await Cluster.runWithOne({
      $0.onIncident = { if $0.kind == .failed { reports.record($0.error as? PipeError) } }
    }) { _, peer, remote, hub, porter async throws in
      await hub[Gatekeeper.self].notifyAndWait { try await $0.didEnter(0) }
      #expect(try await remote.entered() == [0])
      peer.signal(SIGKILL)
      await peer.end()
      for number in 1...5 { hub[Gatekeeper.self].notify { try await $0.didEnter(number) } }
      await hub.drain()
      #expect(porter.entered.events == Array(0...5))
      #expect(reports.events == Array(repeating: .connectionLost, count: 5))
      let counts = hub.statistics().counts
      #expect((counts.handled, counts.failed, counts.addressed) == (7, 5, 12))
    }
  }

  @Test("a peer that comes back is somebody else: the one before is unsubscribed by its id")
  func comingBack() async throws {
    try await Cluster.runWithOne { cluster, peer, remote, hub, porter in
      hub.unsubscribe(porter)
      peer.signal(SIGKILL)
      await peer.end()
      let (_, successor) = try await cluster.startOne()
      #expect(remote.id != successor.id)
      hub.subscribe(successor, to: Gatekeeper.self)
      let question = Self.question(Guest.welcome)
      let both = await hub[Gatekeeper.self].collect(within: Self.patience, question)
      #expect(both.map { $0.result.error as? PipeError } == [.connectionLost, nil])
      hub.unsubscribe(id: remote.id)
      let one = await hub[Gatekeeper.self].collect(within: Self.patience, question)
      try #require(one.map { try? $0.result.get() } == [true])
      #expect(one[0].subscriber.contains("\(successor.id)"))
    }
  }

  @Test("a peer ends with its standard input")
  func noOrphans() async throws {
    try await Cluster.runWithOne { _, peer, remote, _, _ in
      #expect(try await remote.mayEnter(Guest.welcome))
      try peer.input.close()
      #expect(await peer.end() == 0)
      await #expect(throws: PipeError.connectionLost) {
        try await remote.mayEnter(Guest.welcome)
      }
    }
  }
}

extension Result {
  /// The error, if it is one.
  fileprivate var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
