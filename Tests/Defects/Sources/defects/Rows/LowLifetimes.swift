import Delegation
import Foundation
import Synchronization

extension Row {
  static let l13 = Row("L13") {
    let (rounds, elsewhere) = (Counter(), Counter())
    let end = ContinuousClock.now + .seconds(5)
    await onThreads(1) { _ in
      while elsewhere.count == 0, ContinuousClock.now < end {
        rounds.add()
        let hub = DelegateHub()
        // So many that the hub looks for dead ones.
        var mortals = (0..<512).map { _ in Mortal(elsewhere) }
        for mortal in mortals { hub.subscribe(mortal, to: Listener.self) }
        // Backwards, so that it meets the hub, which looks at them from the first one on.
        while mortals.popLast() != nil {}
      }
    }
    return Finding(
      limit: """
        of \(rounds.count * 512) subscribers \(elsewhere.count) died on a thread of the hub's, though \
        nobody posted or asked
        """)
  }

  static let l14 = Row("L14") {
    final class Clinging: Listener {
      let name = 0
      let hub: DelegateHub
      init(_ hub: DelegateHub) { self.hub = hub }
      func take(_ number: Int) {}
      deinit { hub.subscribe(self, to: Listener.self, hold: .strongly) }
    }
    let hub = DelegateHub()
    _ = Clinging(hub)
    let count = await hub.subscriberCount(of: Listener.self)
    return Finding(
      defect: count > 0, "one that subscribes in its deinit, to be held, is not subscribed")
  }

  static let l15 = Row("L15") {
    struct Blocking: Combiner {
      func receive(_ response: Bool, from position: Int) -> Bool? {
        Thread.sleep(forTimeInterval: 0.5)
        return nil
      }
      func finish() -> Bool { true }
    }
    let hub = DelegateHub()
    let voter = Probe()
    hub.subscribe(voter, to: Listener.self)
    let time = await milliseconds {
      _ = await hub.vote(
        Listener.self, by: Blocking(), within: .milliseconds(50), absent: .abstains
      ) { _ in true }
    }
    withExtendedLifetime(voter) {}
    return Finding(
      limit: "with a combiner that blocks for 500 ms a vote within 50 ms takes \(time.short) ms")
  }

  static let s10 = Row("S10") {
    // What a second proxy of a remote actor is to the hub: another object with the same id.
    let (lost, most) = (Counter(), Counter())
    for round in 0..<1000 {
      let hub = DelegateHub()
      let (first, second) = (Probe(), Probe())
      hub.subscribe(first, to: Listener.self, id: "actor")
      for number in 0..<20 {
        hub.notify(Listener.self) {
          await Task.yield()
          $0.take(number)
        }
      }
      await onThreads(1) { _ in
        // At the end of a handler.
        while first.count <= round % 10 {}
        hub.subscribe(second, to: Listener.self, id: "actor")
      }
      await hub.drain()
      let missing = 20 - first.count - second.count
      if missing > 0 { lost.add() }
      if missing > most.count { most.add(missing - most.count) }
    }
    return Finding(
      limit: """
        of 1,000 second proxies of an actor \(lost.count) lost notifications that were about to be \
        handled, \(most.count) at most
        """)
  }
}

/// Counts how many die on another thread than the one that made them.
private final class Mortal: Listener {
  let name = 0
  private let thread = pthread_self()
  private let elsewhere: Counter

  init(_ elsewhere: Counter) { self.elsewhere = elsewhere }

  deinit {
    if pthread_equal(thread, pthread_self()) == 0 { elsewhere.add() }
  }

  func take(_ number: Int) {}
}
