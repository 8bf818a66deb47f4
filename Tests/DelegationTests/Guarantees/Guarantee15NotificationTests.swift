import Testing

@testable import Delegation

@Suite("Guarantee 15: context of notifications", .inTurn)
struct Guarantee15NotificationTests {
  private static let telling: [Reach] = [.notify, .notifyAsynchronously, .notifyAndWait]

  private func makeHub(propagating: [TaskLocalPropagation]) -> DelegateHub {
    var configuration = DelegateHub.Configuration()
    configuration.propagating = propagating
    return DelegateHub(configuration)
  }

  @Test("handlers see no task-local that is not propagated", arguments: telling)
  func none(reach: Reach) async {
    let hub = DelegateHub()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let seen = Recorder<String>()
    await Ambient.$request.withValue("r7") {
      await Ambient.$user.withValue(42) {
        await reach(hub, suspending: false) { _ in
          seen.record("\(Ambient.request) \(Ambient.user)")
        }
      }
    }
    #expect(seen.history == Array(repeating: "none 0", count: 10))
    withExtendedLifetime(probes) {}
  }

  @Test("handlers see those that are propagated, and no others", arguments: telling)
  func named(reach: Reach) async {
    let hub = makeHub(propagating: [.taskLocal(Ambient.$request), .taskLocal(Ambient.$user)])
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    let probes = Probe.many(10)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "5" ? own : nil)
    }
    let seen = Recorder<String>()
    await Ambient.$request.withValue("r7") {
      await Ambient.$user.withValue(42) {
        await Ambient.$unnamed.withValue("secret") {
          await reach(hub, suspending: false) { _ in
            seen.record("\(Ambient.request) \(Ambient.user) \(Ambient.unnamed)")
          }
        }
      }
    }
    await reach(hub, suspending: false) { _ in
      seen.record("\(Ambient.request) \(Ambient.user) \(Ambient.unnamed)")
    }
    #expect(
      seen.history
        == Array(repeating: "r7 42 none", count: 10) + Array(repeating: "none 0 none", count: 10))
    withExtendedLifetime(probes) {}
  }

  @Test("it is the value at the time of posting that counts")
  func atPosting() {
    let stage = Stage { $0.propagating = [.taskLocal(Ambient.$user)] }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    for user in 1...3 {
      Ambient.$user.withValue(user) {
        stage.hub[Listener.self].notify() { $0.log.record(Ambient.user) }
        stage.hub[Listener.self].notify() { probe in
          await Task.yield()
          probe.log.record(10 * Ambient.user)
        }
      }
    }
    Ambient.$user.withValue(99) { stage.run() }
    #expect(probe.log.history == [1, 10, 2, 20, 3, 30])
  }

  @Test("whoever posts, no handler sees another poster's values", arguments: [true, false])
  func neverAnothers(isPropagating: Bool) async {
    let hub = makeHub(propagating: isPropagating ? [.taskLocal(Ambient.$user)] : [])
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let wrong = Recorder<String>()
    await withTaskGroup { group in
      for user in 1...8 {
        group.addTask {
          await Ambient.$unnamed.withValue("secret") {
            await Ambient.$user.withValue(user) {
              for round in 0..<50 {
                @Sendable func check() {
                  let isRight = Ambient.user == (isPropagating ? user : 0)
                  if !isRight || Ambient.unnamed != "none" {
                    wrong.record("\(user) posted, \(Ambient.user) \(Ambient.unnamed) was seen")
                  }
                }
                hub[Listener.self].notify() { probe in
                  check()
                  if round % 5 == Int(probe.name)! % 5 { await Task.yield() }
                  check()
                }
                hub[Listener.self].notify() { probe in
                  check()
                  probe.log.record(user)
                }
                if round % 10 == 0 { await Task.yield() }
              }
            }
          }
        }
      }
    }
    await hub.drain()
    #expect(wrong.history == [])
    let expected = (1...8).flatMap { Array(repeating: $0, count: 50) }
    for probe in probes { #expect(probe.log.history.sorted() == expected) }
  }

  @Test("what a handler posts carries what the handler sees, and so on")
  func inTurn() {
    let stage = Stage { $0.propagating = [.taskLocal(Ambient.$request)] }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    let seen = Recorder<String>()
    let hub = stage.hub
    Ambient.$request.withValue("r7") {
      hub[Listener.self].notify() { _ in
        hub[Listener.self].notify() { _ in
          seen.record(Ambient.request)
          Ambient.$request.withValue("r8") {
            hub[Listener.self].notify() { _ in seen.record(Ambient.request) }
          }
        }
      }
    }
    stage.run()
    #expect(seen.history == ["r7", "r8"])
    withExtendedLifetime(probe) {}
  }

  @Test("a question that a handler asks sees what the handler sees")
  func askedByAHandler() {
    let stage = Stage { $0.propagating = [.taskLocal(Ambient.$user)] }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    let hub = stage.hub
    Ambient.$user.withValue(7) {
      hub[Listener.self].notify() { probe in
        let users = await hub[Listener.self].ask(combining: .all()) { _ in Ambient.user }
        for user in users { probe.log.record(user) }
      }
    }
    stage.run()
    #expect(probe.log.history == [7])
  }

  @Test("an error of a handler is reported whether or not values are propagated")
  func failures() {
    let reported = Recorder<String>()
    let stage = Stage { configuration in
      configuration.propagating = [.taskLocal(Ambient.$user), .taskLocal(Ambient.$request)]
      configuration.on(.failed) { reported.record($0.reason) }
    }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in throw Refusal(reason: "sync") }
    stage.hub[Listener.self].notify() { _ in
      await Task.yield()
      throw Refusal(reason: "async")
    }
    stage.run()
    #expect(reported.history == ["sync", "async"])
    withExtendedLifetime(probe) {}
  }
}
