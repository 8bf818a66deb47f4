import Delegation

/// A public operation, and what brings the scene back to where it was.
struct Operation: Sendable {
  typealias Step = @Sendable (Scene) async -> Void

  let name: String
  /// What its cost is in proportion to, by its documentation.
  let linear: Set<Factor>
  /// What it waits for, beside what it does itself.
  let waits: Set<Rest>
  /// Whether it is one of those that CI measures.
  let isQuick: Bool
  let run: Step
  /// What comes before it and is not counted.
  let prepare: Step
  /// What comes after it and is not counted.
  let restore: Step

  init(
    name: String, linear: Set<Factor> = [], waits: Set<Rest> = [], isQuick: Bool = false,
    _ run: @escaping Step, prepare: @escaping Step = { _ in }, restore: @escaping Step = { _ in }
  ) {
    self.name = name
    self.linear = linear
    self.waits = waits
    self.isQuick = isQuick
    self.run = run
    self.prepare = prepare
    self.restore = restore
  }

  enum Rest {
    /// For the whole hub.
    case hub
    /// For the notifications of `Listener`.
    case listeners
  }

  static let all = subscribing + unsubscribing + telling + asking + looking
}

/// What there may be many of.
enum Factor {
  case subscribers
  case subscribersOfOthers
  case protocols
  case other
}

private typealias L = any Listener

extension Operation {
  static let cancelCurrent: @Sendable (Scene) async -> Void = { scene in
    scene.current?.cancel()
    scene.current = nil
  }
  fileprivate static let subscribeVisitor: @Sendable (Scene) async -> Void = { scene in
    scene.current = scene.hub.subscribe(scene.visitor, to: L.self)
    await scene.settle()
  }

  fileprivate static let subscribing: [Operation] = [
    Operation(name: "subscribe", isQuick: true) { scene in
      scene.current = scene.hub.subscribe(scene.visitor, to: L.self)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe, and the next call on another protocol") { scene in
      scene.current = scene.hub.subscribe(scene.visitor, to: L.self)
      _ = scene.hub.subscriberCount(of: (any Unheard).self)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe strongly") { scene in
      scene.current = scene.hub.subscribe(scene.visitor, to: L.self, hold: .strongly)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe by id", isQuick: true) { scene in
      scene.current = scene.hub.subscribe(scene.visitor, to: L.self, id: "seat")
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe toEachOf") { scene in
      for subscription in scene.hub.subscribe(
        scene.visitor, toEachOf: L.self, (any Bystander).self)
      {
        scene.current = subscription
      }
    } restore: {
      $0.hub.unsubscribe($0.visitor)
    },
    Operation(name: "registry.subscribe") { scene in
      scene.current = scene.delegates.registry.subscribe(scene.visitor)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe again") { $0.hub.subscribe($0.member, to: L.self) },
    Operation(name: "subscribe again, another priority", isQuick: true) { scene in
      scene.number += 1
      scene.hub.subscribe(scene.member, to: L.self, priority: 10 + scene.number % 2)
    },
    Operation(name: "subscribe again, another mailbox") { scene in
      scene.hub.subscribe(scene.visitor, to: L.self, mailbox: .dropOldest(limit: 8))
    } prepare: {
      await subscribeVisitor($0)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe again, another executor") { scene in
      scene.hub.subscribe(scene.visitor, to: L.self, on: globalConcurrentExecutor)
    } prepare: {
      await subscribeVisitor($0)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "subscribe again, another id") { scene in
      scene.number += 1
      scene.hub.subscribe(scene.visitor, to: L.self, id: scene.number)
    } prepare: {
      await subscribeVisitor($0)
    } restore: {
      await cancelCurrent($0)
    },
    Operation(name: "take over an id", isQuick: true) { scene in
      scene.current = scene.hub.subscribe(scene.successor, to: L.self, id: "seat")
    } prepare: { scene in
      scene.hub.subscribe(scene.visitor, to: L.self, id: "seat")
      await scene.settle()
    } restore: {
      await cancelCurrent($0)
    },
  ]

  fileprivate static let unsubscribing: [Operation] = [
    Operation(name: "cancel", isQuick: true) {
      $0.current?.cancel()
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "cancel, and the next call on another protocol") { scene in
      scene.current?.cancel()
      _ = scene.hub.subscriberCount(of: (any Unheard).self)
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "cancelAndWait", isQuick: true) {
      await $0.current?.cancelAndWait()
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "unsubscribe from a protocol") {
      $0.hub.unsubscribe($0.visitor, from: L.self)
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "registry.unsubscribe") {
      $0.delegates.registry.unsubscribe($0.visitor)
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "unsubscribe", linear: [.protocols]) {
      $0.hub.unsubscribe($0.visitor)
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "unsubscribe(id:)", linear: [.protocols], isQuick: true) { scene in
      scene.hub.unsubscribe(id: "seat")
    } prepare: { scene in
      scene.hub.subscribe(scene.visitor, to: L.self, id: "seat")
      await scene.settle()
    },
    Operation(
      name: "unsubscribeAndWait", linear: [.subscribers, .subscribersOfOthers, .protocols, .other]
    ) {
      await $0.hub.unsubscribeAndWait($0.visitor)
    } prepare: {
      await subscribeVisitor($0)
    },
    Operation(name: "unsubscribeAll from a protocol of one") { scene in
      scene.hub.unsubscribeAll(from: (any Settler).self)
    } restore: {
      $0.subscribeSettler()
    },
    Operation(name: "a death is noticed", linear: [.subscribers]) { scene in
      _ = await scene.hub.vote(L.self) { await $0.mayPass() }
    } prepare: { scene in
      var mortal: Member? = Member()
      if let mortal { scene.hub.subscribe(mortal, to: L.self) }
      // It has been called: the hub does not tell that it was not.
      _ = await scene.hub.vote(L.self) { await $0.mayPass() }
      mortal = nil
      await scene.settle()
    },
  ]
}
