import Delegation
import Foundation
import Synchronization

extension Row {
  static let l10 = Row("L10") {
    let hub = DelegateHub()
    let probes = Probe.many(80_000)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let couple = Probe.many(2)
    hub.subscribe(couple[0], to: Listener.self, id: "a")
    _ = await hub.subscriberCount(of: Listener.self)
    await hub.drain()
    let before = processorMilliseconds()
    for round in 1...20 {
      hub.subscribe(couple[round % 2], to: Listener.self, id: "a")
      await hub.drain()
    }
    let time = (processorMilliseconds() - before) / 20
    withExtendedLifetime((probes, couple)) {}
    return Finding(
      defect: time > 5,
      "a take-over beside 80,000 subscribers, with nothing waiting, takes \(time.short) ms of a core"
    )
  }

  static let l11 = Row("L11") {
    let hub = DelegateHub()
    let probes = Probe.many(100_000)
    let before = megabytes()
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    _ = await hub.subscriberCount(of: Listener.self)
    let peak = megabytes() - before
    hub.unsubscribeAll(from: Listener.self)
    await eventually(within: 3) { megabytes() - before < peak / 4 }
    let left = megabytes() - before
    // Enters the hub, which then sees what has happened.
    _ = await hub.subscriberCount(of: Listener.self)
    let leftAtLast = megabytes() - before
    withExtendedLifetime((hub, probes)) {}
    return Finding(
      defect: left > leftAtLast + 3,
      """
      when 100,000 subscribers are unsubscribed at once, \(left.short) of \(peak.short) MB are left, \
      \(leftAtLast.short) MB after the next call
      """)
  }

  static let l12 = Row("L12") {
    func end(besideProtocols exponent: Int) async -> Double {
      let hub = DelegateHub()
      let subscriptions = Topics(hub).subscribe(toPowerOfTwo: exponent)
      var times: [Double] = []
      for subscription in subscriptions.prefix(200) {
        times.append(await milliseconds { subscription.cancel() } * 1000)
      }
      return median(times)
    }
    let (few, many) = (await end(besideProtocols: 8), await end(besideProtocols: 14))
    return Finding(
      defect: many > 10 * few,
      """
      the end of a protocol's last subscription takes \(few.short) us among 256 protocols, \
      \(many.short) us among 16,384
      """)
  }

  static let l18 = Row("L18") {
    let hub = DelegateHub()
    let (first, second) = (Probe(1), Probe(2))
    hub.subscribe(second, to: Listener.self)
    hub.subscribe(first, to: Listener.self, priority: 1)
    hub.subscribe(first, to: Listener.self, mailbox: .latest)
    let order = await hub.subscribers(of: Listener.self).map(\.name)
    withExtendedLifetime((first, second)) {}
    return Finding(
      defect: order != [1, 2],
      "one that names another mailbox \(order == [1, 2] ? "keeps" : "loses") its priority")
  }
}

private protocol Topic<Kind>: AnyObject, Sendable {
  associatedtype Kind
}

private final class TopicProbe<Kind>: Topic {}

private enum Zero<Rest> {}
private enum One<Rest> {}

/// Makes protocols by the thousand: `any Topic<Zero<One<…>>>`.
private final class Topics {
  private let hub: DelegateHub
  private var subscriptions: [Subscription] = []

  init(_ hub: DelegateHub) { self.hub = hub }

  func subscribe(toPowerOfTwo exponent: Int) -> [Subscription] {
    add(Void.self, exponent)
    return subscriptions
  }

  private func add<Kind>(_ kind: Kind.Type, _ exponent: Int) {
    if exponent == 0 {
      let subscription = hub.subscribe(
        TopicProbe<Kind>(), to: (any Topic<Kind>).self, hold: .strongly)
      return subscriptions.append(subscription)
    }
    add(Zero<Kind>.self, exponent - 1)
    add(One<Kind>.self, exponent - 1)
  }
}
