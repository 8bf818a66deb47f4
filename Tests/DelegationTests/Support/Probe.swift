@testable import Delegation

/// What most tests subscribe to.
protocol Listener: AnyObject, Sendable {
  var name: String { get }
  var log: Recorder<Int> { get }
}

/// A second protocol, for what is to be kept apart.
protocol Bystander: AnyObject, Sendable {
  var name: String { get }
  var log: Recorder<Int> { get }
}

/// A subscriber that keeps a log and tells of its death.
final class Probe: Listener, Bystander {
  let name: String
  let log = Recorder<Int>()
  private let onDeath: (@Sendable () -> Void)?

  init(_ name: String = "probe", onDeath: (@Sendable () -> Void)? = nil) {
    self.name = name
    self.onDeath = onDeath
  }

  deinit {
    onDeath?()
  }
}

extension Probe {
  /// That many, named by their numbers.
  static func many(_ count: Int) -> [Probe] {
    (0..<count).map { Probe("\($0)") }
  }
}

extension DelegateHub {
  /// Subscribes that many probes, named by their numbers, which the hub keeps.
  @discardableResult
  nonisolated func cast(_ count: Int, on executor: (any TaskExecutor)? = nil) -> [Probe] {
    let probes = Probe.many(count)
    for probe in probes { subscribe(probe, to: Listener.self, hold: .strongly, on: executor) }
    return probes
  }
}

/// Does something when it dies.
final class DeathNotice: Sendable {
  private let onDeath: @Sendable () -> Void

  init(_ onDeath: @escaping @Sendable () -> Void) {
    self.onDeath = onDeath
  }

  deinit {
    onDeath()
  }
}

/// Sees whether an object has died, without keeping it alive.
///
/// `@unchecked Sendable`: the reference is written in `init` and after that only by the runtime.
final class Obituary: @unchecked Sendable {
  private weak var object: AnyObject?

  init(of object: AnyObject) {
    self.object = object
  }

  var isDead: Bool { object == nil }

  /// Gives way to others until the object has died, which is bound to happen: the one who released
  /// it last may not have come to that yet.
  func death() async {
    while !isDead { await Task.yield() }
  }
}

/// Counts the objects that it made and that are alive.
final class Lifetimes: Sendable {
  /// An object that is counted.
  final class Tracked: Sendable, Hashable {
    private let count: Count

    fileprivate init(_ count: Count) {
      self.count = count
      count.add(1)
    }

    deinit { count.add(-1) }

    static func == (lhs: Tracked, rhs: Tracked) -> Bool { lhs === rhs }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  private let count = Count()

  func make() -> Tracked { Tracked(count) }

  var alive: Int { count.value }

  /// Gives way to others until no more than that many are alive, which is bound to happen: a worker
  /// that has handled everything may not have let go yet.
  func shrink(to limit: Int = 0) async {
    while alive > limit { await Task.yield() }
  }
}
