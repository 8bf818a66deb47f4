import Delegation

/// Each public operation beside more and more of whatever else a hub may have: what `.ci/growth` counts.
enum Growth {
  /// Counts what the arguments name: texts that stand in the names of an operation and of what it may depend on, and
  /// `--quick` for a part of it.
  static func run(_ arguments: [String]) async {
    let texts = arguments.filter { $0 != "--quick" }
    let isQuick = arguments.contains("--quick")
    for circumstance in Circumstance.all where !isQuick || circumstance.isQuick {
      for isLinear in [false, true] {
        let operations = Operation.all.filter { operation in
          operation.linear.contains(circumstance.factor) == isLinear
            && (!isQuick || operation.isQuick) && !(circumstance.isUnrest && operation.waits)
            && texts.allSatisfy { "\(operation.name)|\(circumstance.name)".contains($0) }
        }
        for size in isLinear ? [200, 400] : [2_000, 4_000] where !operations.isEmpty {
          let scene = Scene()
          await scene.settle()
          await circumstance.arrange(scene, size)
          for operation in operations {
            await count(operation, beside: circumstance, size, isLinear, in: scene)
          }
          await scene.end()
        }
      }
    }
  }

  private static func count(
    _ operation: Operation, beside circumstance: Circumstance, _ size: Int, _ isLinear: Bool,
    in scene: Scene
  ) async {
    // Often enough to be warm.
    for round in 0..<6 {
      await operation.prepare(scene)
      if round < 3 {
        await operation.run(scene)
      } else {
        let name = "\(operation.name)|\(circumstance.name)|\(isLinear ? "linear" : "level")|\(size)"
        await Counted.count(name) { await operation.run(scene) }
      }
      scene.current.take()?.cancel()
      await scene.settle()
    }
  }
}

/// A hub with one subscriber, and what operations are done with.
///
/// `@unchecked Sendable`: one task uses it at a time.
final class Scene: @unchecked Sendable {
  let delegates = Delegates<any Listener>(of: DelegateHub(.init(onIncident: { _ in })))
  /// Subscribed, and served first.
  let member = Member()
  let subscription: DelegateHub.Subscription
  /// Not subscribed between operations.
  let (visitor, successor) = (Member(), Member())
  /// What an operation has subscribed.
  var current: DelegateHub.Subscription?
  var number = 0
  /// What a circumstance has made.
  var kept: [Any] = []
  var tasks: [Task<Void, Never>] = []
  let gate = Gate()
  let states: Events<Character>

  var hub: DelegateHub { delegates.hub }
  var others: Delegates<any Bystander> { hub[(any Bystander).self] }

  init() {
    subscription = delegates.registry.subscribe(member, priority: 10)
    states = Events<Character>(of: delegates.hub, replaying: 1)
  }

  func members(_ count: Int) -> [Member] {
    let members = (0..<count).map { _ in Member() }
    kept += members
    return members
  }

  /// Starts that many tasks, and returns when all of them wait.
  func start(_ count: Int, _ work: @escaping @Sendable () async -> Void) async {
    for _ in 0..<count { tasks.append(Task(operation: work)) }
    for _ in 0..<4 { await Task.yield() }
  }

  /// Lets the hub's workers end.
  func settle() async { for _ in 0..<8 { await Task.yield() } }

  func end() async {
    gate.open()
    kept = []
    for task in tasks {
      task.cancel()
      await task.value
    }
    await hub.drain()
  }
}

/// A public operation.
struct Operation: Sendable {
  typealias Step = @Sendable (Scene) async -> Void

  let name: String
  /// What its cost is in proportion to, by its documentation.
  var linear: Set<Circumstance.Factor> = []
  /// Whether it waits for the subscribers.
  var waits = false
  /// Whether it is one of those that CI measures.
  var isQuick = false
  /// What comes before it and is not counted.
  var prepare: Step = { _ in }
  let run: Step

  private static let subscribeVisitor: Step = { scene in
    scene.current = scene.delegates.registry.subscribe(scene.visitor, id: "seat")
  }

  static let all = subscribing + telling + asking

  private static let subscribing: [Operation] = [
    Operation(name: "subscribe", isQuick: true) {
      $0.current = $0.delegates.registry.subscribe($0.visitor)
    },
    Operation(name: "subscribe again, another priority") { scene in
      scene.number += 1
      scene.delegates.registry.subscribe(scene.member, priority: 10 + scene.number % 2)
    },
    Operation(name: "take over an id", isQuick: true, prepare: subscribeVisitor) { scene in
      scene.current = scene.delegates.registry.subscribe(scene.successor, id: "seat")
    },
    Operation(name: "cancel", isQuick: true, prepare: subscribeVisitor) { $0.current?.cancel() },
    Operation(name: "finish", prepare: subscribeVisitor) { $0.current?.finish() },
    Operation(name: "cancelAndWait", prepare: subscribeVisitor) {
      await $0.current?.cancelAndWait()
    },
    Operation(name: "registry.unsubscribe(id:)", prepare: subscribeVisitor) {
      $0.delegates.registry.unsubscribe(id: "seat")
    },
    Operation(name: "unsubscribe", linear: [.protocols], prepare: subscribeVisitor) {
      $0.hub.unsubscribe($0.visitor)
    },
    Operation(name: "isEmpty") { _ = $0.delegates.isEmpty },
    Operation(name: "count", linear: [.subscribers]) { _ = $0.delegates.count },
    Operation(name: "Subscription.statistics", isQuick: true) { _ = $0.subscription.statistics },
    Operation(name: "statistics", linear: Set(Circumstance.Factor.allCases)) {
      _ = $0.hub.statistics()
    },
    Operation(name: "another hub, made and released") { scene in
      DelegateHub()[(any Listener).self].registry.subscribe(scene.member)
    },
  ]

  private static let telling: [Operation] = [
    Operation(name: "notify", isQuick: true) { $0.delegates.notify { _ in } },
    Operation(name: "notify nobody") { $0.hub[(any Narrower).self].notify { _ in } },
    Operation(name: "notifyAndWait", linear: [.subscribers], waits: true, isQuick: true) {
      await $0.delegates.notifyAndWait { $0.didPass(7) }
    },
    // So wide that it does not wait.
    Operation(name: "notifyAndWait, with a window") {
      await $0.delegates.notifyAndWait(leaving: 5_000) { $0.didPass(7) }
    },
    Operation(name: "forEach", linear: [.subscribers], isQuick: true) {
      $0.delegates.forEach { _ in }
    },
    Operation(name: "drain", waits: true) { await $0.hub.drain() },
    Operation(name: "drain(within:), too late") { _ = await $0.hub.drain(within: .zero) },
    Operation(name: "an event of a stream, and the stream", isQuick: true) { scene in
      let events = Events<Int>(of: scene.hub)
      let stream = events.registry.stream()
      events.post(7)
      _ = await stream.next()
    },
    Operation(name: "a replayed event of a stream, and the stream") { scene in
      scene.states.post("a")
      _ = await scene.states.registry.stream().next()
    },
    Operation(name: "once, and the event") { scene in
      let events = Events<Int>(of: scene.hub)
      events.registry.once { _ in }
      await events.notifyAndWait { try await $0.receive(7) }
    },
    Operation(name: "demand") { scene in
      var wanted = scene.delegates.demand.makeAsyncIterator()
      _ = await wanted.next()
    },
  ]

  private static let asking: [Operation] = [
    Operation(name: "vote", linear: [.subscribers], isQuick: true) {
      _ = await $0.delegates.vote { await $0.mayPass(7) }
    },
    Operation(name: "vote, within", linear: [.subscribers], isQuick: true) {
      _ = await $0.delegates.vote(within: .seconds(600), absent: .abstains) { await $0.mayPass(7) }
    },
    Operation(name: "vote, at once", linear: [.subscribers]) {
      _ = await $0.delegates.vote { $0.maySit(7) }
    },
    Operation(name: "collect", linear: [.subscribers]) {
      _ = await $0.delegates.collect { await $0.weigh(7) }
    },
    Operation(name: "askInTurn, the first answers") {
      _ = await $0.delegates.askInTurn { await $0.weigh(7) }
    },
    Operation(name: "pass", linear: [.subscribers]) {
      _ = await $0.delegates.pass(1) { await $0.weigh($1) }
    },
  ]
}

/// Something of which a hub, or the process, may have many.
struct Circumstance: Sendable {
  enum Factor: CaseIterable { case subscribers, subscribersOfOthers, protocols, other }

  let name: String
  var factor = Factor.other
  /// Whether some of it does not come to rest meanwhile.
  var isUnrest = false
  /// Whether it is one of those that CI measures.
  var isQuick = false
  /// Makes that many.
  let arrange: @Sendable (Scene, _ size: Int) async -> Void

  static let all = present + past

  private static let present: [Circumstance] = [
    Circumstance(name: "subscribers", factor: .subscribers, isQuick: true) { scene, size in
      for member in scene.members(size) { scene.delegates.registry.subscribe(member) }
    },
    Circumstance(name: "subscribers of another protocol", factor: .subscribersOfOthers) {
      scene, size in
      for member in scene.members(size) { scene.others.registry.subscribe(member) }
    },
    Circumstance(name: "protocols", factor: .protocols) { scene, size in
      for number in 0..<size { scene.kept.append(subscribe(number, to: scene.hub, Never.self)) }
    },
    Circumstance(name: "hubs") { scene, size in
      for _ in 0..<size {
        let hub = DelegateHub()
        hub.subscribe(scene.member, to: (any Bystander).self)
        scene.kept.append(hub)
      }
    },
    Circumstance(name: "notifications that wait for another one", isUnrest: true, isQuick: true) {
      scene, size in
      let gate = scene.gate
      scene.others.registry.subscribe(scene.members(1)[0])
      for _ in 0..<size { scene.others.notify { _ in await gate.pass() } }
      await gate.waitForArrivals(1)
    },
    Circumstance(name: "notifications that wait for the subscriber", isUnrest: true) {
      scene, size in
      let gate = scene.gate
      for _ in 0..<size { scene.delegates.notify { _ in await gate.pass() } }
      await gate.waitForArrivals(1)
    },
    Circumstance(name: "notifications that are kept to be replayed") { scene, size in
      let states = Events<Character>(of: scene.hub, replaying: size)
      for _ in 0..<size { states.post("a") }
    },
    Circumstance(name: "streams", factor: .subscribersOfOthers) { scene, size in
      for _ in 0..<size { scene.kept.append(Events<String>(of: scene.hub).registry.stream()) }
    },
    Circumstance(name: "events that wait in a stream", isUnrest: true) { scene, size in
      let events = Events<String>(of: scene.hub)
      scene.kept.append(events.registry.stream())
      for _ in 0..<size { events.post("") }
    },
    Circumstance(name: "windows that wait for the subscriber", isUnrest: true) { scene, size in
      let gate = scene.gate
      for _ in 0..<size {
        await scene.delegates.notifyAndWait(leaving: size) { _ in await gate.pass() }
      }
      await gate.waitForArrivals(1)
    },
    Circumstance(name: "loops over demand") { scene, size in
      await scene.start(size) { [demand = scene.delegates.demand] in for await _ in demand {} }
    },
    Circumstance(name: "questions that are being answered", isUnrest: true, isQuick: true) {
      scene, size in
      let (gate, others) = (scene.gate, scene.others)
      others.registry.subscribe(scene.members(1)[0])
      await scene.start(size) {
        _ = await others.vote(within: .seconds(600), absent: .abstains) { _ in
          await gate.pass()
          return true
        }
      }
      await gate.waitForArrivals(size)
    },
    Circumstance(name: "tasks that drain the hub", isUnrest: true) { scene, size in
      let (gate, hub) = (scene.gate, scene.hub)
      scene.others.registry.subscribe(scene.members(1)[0])
      scene.others.notify { _ in await gate.pass() }
      await gate.waitForArrivals(1)
      await scene.start(size) { await hub.drain() }
    },
  ]

  /// What a hub once had many of.
  private static let past: [Circumstance] = [
    Circumstance(name: "former subscribers", isQuick: true) { scene, size in
      let subscriptions = scene.members(size).map { scene.delegates.registry.subscribe($0) }
      for subscription in subscriptions { subscription.cancel() }
    },
    Circumstance(name: "former subscribers that died") { scene, size in
      for _ in 0..<size { scene.delegates.registry.subscribe(Member()) }
      scene.delegates.forEach { _ in }
    },
    Circumstance(name: "former take-overs of one id") { scene, size in
      for member in scene.members(size) { scene.delegates.registry.subscribe(member, id: "chair") }
      scene.delegates.registry.unsubscribe(id: "chair")
    },
    Circumstance(name: "former notifications") { scene, size in
      for _ in 0..<size { scene.delegates.notify { _ in } }
      await scene.hub.drain()
    },
    Circumstance(name: "former calls with a deadline") { scene, size in
      for _ in 0..<size {
        _ = await scene.delegates.vote(within: .seconds(600), absent: .abstains) {
          await $0.mayPass(7)
        }
      }
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
private func subscribe<Tag>(_ number: Int, to hub: DelegateHub, _ tag: Tag.Type) -> AnyObject {
  if number > 0 {
    return number % 2 == 0
      ? subscribe(number / 2, to: hub, Zero<Tag>.self)
      : subscribe(number / 2, to: hub, One<Tag>.self)
  }
  let member = NumberedMember<Tag>()
  hub.subscribe(member, to: (any Numbered<Tag>).self)
  return member
}
