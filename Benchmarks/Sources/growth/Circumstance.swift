import Delegation

/// Something of which a hub, or the process, may have many.
struct Circumstance: Sendable {
  typealias Arrange = @Sendable (Scene, _ size: Int) async -> Scenery

  let name: String
  /// What there are many of, for operations whose documented cost is in proportion to that.
  let factor: Factor
  /// What does not come to rest meanwhile.
  let unrest: Set<Operation.Rest>
  /// Whether it is one of those that CI measures.
  let isQuick: Bool
  /// How many there are for operations that are not to depend on them.
  let size: Int
  /// Makes that many.
  let arrange: Arrange

  init(
    _ name: String, factor: Factor = .other, unrest: Set<Operation.Rest> = [],
    isQuick: Bool = false, size: Int = 4_000, _ arrange: @escaping Arrange
  ) {
    self.name = name
    self.factor = factor
    self.unrest = unrest
    self.isQuick = isQuick
    self.size = size
    self.arrange = arrange
  }

  /// How the cost of an operation may grow here; `nil` if it would not come to an end.
  func expected(of operation: Operation) -> Expected? {
    guard operation.waits.isDisjoint(with: unrest) else { return nil }
    return operation.linear.contains(factor) ? .linear : .level
  }

  /// How many to make, and twice as many.
  func sizes(for expected: Expected) -> [Int] {
    switch expected {
    case .level: [size, 2 * size]
    case .linear, .waits: [200, 400]
    }
  }

  static let all = population + past + running + waiting
}

private typealias L = any Listener
private typealias B = any Bystander

extension Circumstance {
  fileprivate static let population: [Circumstance] = [
    Circumstance("subscribers", factor: .subscribers, isQuick: true) { scene, size in
      let scenery = Scenery()
      for member in scenery.members(size) { scene.hub.subscribe(member, to: L.self) }
      await scene.settle()
      return scenery
    },
    Circumstance("subscribers with ids", factor: .subscribers) { scene, size in
      let scenery = Scenery()
      for (number, member) in scenery.members(size).enumerated() {
        scene.hub.subscribe(member, to: L.self, id: number, hold: .strongly)
      }
      await scene.settle()
      return scenery
    },
    Circumstance("subscribers of another protocol", factor: .subscribersOfOthers, isQuick: true) {
      scene, size in
      let scenery = Scenery()
      for member in scenery.members(size) { scene.hub.subscribe(member, to: B.self) }
      await scene.settle()
      return scenery
    },
    Circumstance("protocols", factor: .protocols, isQuick: true) { scene, size in
      let scenery = Scenery()
      for number in 0..<size {
        scenery.kept.append(subscribeNumbered(number, to: scene.hub, Never.self).subscriber)
      }
      await scene.settle()
      return scenery
    },
    Circumstance("hubs") { scene, size in
      let scenery = Scenery()
      let member = Member()
      scenery.kept = [member]
      for _ in 0..<size {
        let hub = DelegateHub()
        hub.subscribe(member, to: L.self)
        scenery.hubs.append(hub)
      }
      return scenery
    },
    Circumstance("dead subscribers of another protocol", factor: .subscribersOfOthers) {
      scene, size in
      // One after another, so that the hub does not come to search for them.
      for _ in 0..<min(size, 500) { scene.hub.subscribe(Member(), to: B.self) }
      await scene.settle()
      return Scenery()
    },
  ]

  /// What a hub once had many of.
  fileprivate static let past: [Circumstance] = [
    Circumstance("former subscribers", isQuick: true) { scene, size in
      let scenery = Scenery()
      let subscriptions = scenery.members(size).map { scene.hub.subscribe($0, to: L.self) }
      await scene.settle()
      for subscription in subscriptions { subscription.cancel() }
      await scene.settle()
      return scenery
    },
    Circumstance("former subscribers that died") { scene, size in
      for _ in 0..<size { scene.hub.subscribe(Member(), to: L.self) }
      _ = await scene.hub.vote(L.self) { await $0.mayPass() }
      await scene.settle()
      return Scenery()
    },
    Circumstance("former subscribers to other protocols", factor: .protocols) { scene, size in
      for number in 0..<size {
        subscribeNumbered(number, to: scene.hub, Never.self).subscription.cancel()
      }
      await scene.settle()
      return Scenery()
    },
    Circumstance("former take-overs of one id") { scene, size in
      let scenery = Scenery()
      for member in scenery.members(size) { scene.hub.subscribe(member, to: L.self, id: "seat") }
      scene.hub.unsubscribe(id: "seat")
      await scene.settle()
      return scenery
    },
    Circumstance("former notifications, handled") { scene, size in
      for _ in 0..<size { scene.hub.notify(L.self) { _ in } }
      await scene.hub.drain()
      return Scenery()
    },
    Circumstance("former calls with a deadline") { scene, size in
      let scenery = Scenery()
      let gate = scenery.gate
      scene.hub.subscribe(scenery.members(1)[0], to: B.self)
      await scenery.start(size) { _ in
        _ = await scene.hub.vote(B.self, within: .seconds(600), absent: .abstains) { _ in
          await gate.pass()
          return true
        }
      }
      await gate.waitForArrivals(size)
      await scenery.end()
      return Scenery()
    },
    Circumstance("former changes of options") { scene, size in
      for number in 0..<size {
        scene.hub.subscribe(
          scene.member, to: L.self, priority: 10 + number % 2, id: number,
          mailbox: number % 2 == 0 ? .unbounded : .latest)
      }
      scene.hub.subscribe(scene.member, to: L.self, priority: 10, mailbox: .unbounded)
      await scene.settle()
      return Scenery()
    },
  ]
}

/// Types of which there are as many as anybody needs.
private protocol Numbered<Tag>: AnyObject, Sendable {
  associatedtype Tag
}
private final class NumberedMember<Tag>: Numbered {}
private enum Zero<Rest> {}
private enum One<Rest> {}

/// Subscribes an object to a protocol that no other number has.
private func subscribeNumbered<Tag>(
  _ number: Int, to hub: DelegateHub, _ tag: Tag.Type
) -> (subscriber: AnyObject, subscription: DelegateHub.Subscription) {
  if number > 0 {
    return number % 2 == 0
      ? subscribeNumbered(number / 2, to: hub, Zero<Tag>.self)
      : subscribeNumbered(number / 2, to: hub, One<Tag>.self)
  }
  let member = NumberedMember<Tag>()
  return (member, hub.subscribe(member, to: (any Numbered<Tag>).self))
}
