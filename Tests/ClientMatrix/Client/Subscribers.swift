import Delegation

// Protocols whose subscribers live anywhere say `nonisolated`. Where the default isolation is the main actor,
// they would be isolated to it otherwise.

/// A synchronous requirement, and asynchronous ones that any kind of subscriber can satisfy.
public nonisolated protocol Door: AnyObject, Sendable {
  func didEnter(_ guest: String)
  func greet(_ guest: String) async
  func mayEnter(_ guest: String) async -> Bool
}

/// What some doors do as well.
public nonisolated protocol Bell: Door {
  func ring() async
}

/// A class: everything runs on a worker, or where it subscribed `on:`.
nonisolated final class Bouncer: Bell {
  let log = Log()

  func didEnter(_ guest: String) { log.note("didEnter") }
  func greet(_ guest: String) async { log.note("greet") }
  func ring() async { log.note("ring") }

  func mayEnter(_ guest: String) async -> Bool {
    log.note("mayEnter")
    return guest != "Mallory"
  }
}

// Actors conform in extensions: the compiler may apply the protocol's `nonisolated` to the actor otherwise,
// and refuse it, unless the module's default isolation is the main actor.
extension GuestBook: Door {}
extension Vault: Door {}

/// An actor: asynchronous requirements run on it.
actor GuestBook {
  nonisolated let log = Log()

  nonisolated func didEnter(_ guest: String) { log.note("didEnter") }

  func greet(_ guest: String) {
    preconditionIsolated()
    log.note("greet")
  }

  func mayEnter(_ guest: String) -> Bool {
    preconditionIsolated()
    log.note("mayEnter")
    return guest != "Mallory"
  }
}

/// An actor on a queue.
actor Vault {
  nonisolated let log = Log()
  private let executor: DispatchQueueExecutor

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(on executor: DispatchQueueExecutor) { self.executor = executor }

  nonisolated func didEnter(_ guest: String) { log.note("didEnter") }

  func greet(_ guest: String) {
    preconditionIsolated()
    log.note("greet")
  }

  func mayEnter(_ guest: String) -> Bool {
    preconditionIsolated()
    log.note("mayEnter")
    return guest != "Mallory"
  }
}

/// A class on the main actor: asynchronous requirements run there, and it need not await in them.
///
/// Each of them says `@MainActor`: the protocol's `nonisolated` may hold for them otherwise.
@MainActor
final class Porch: Door {
  nonisolated let log = Log()
  private var guests: [String] = []

  nonisolated init() {}

  nonisolated func didEnter(_ guest: String) { log.note("didEnter") }

  @MainActor func greet(_ guest: String) {
    MainActor.preconditionIsolated()
    guests.append(guest)
    log.note("greet")
  }

  @MainActor func mayEnter(_ guest: String) -> Bool {
    MainActor.preconditionIsolated()
    log.note("mayEnter")
    return guest != "Mallory"
  }
}

/// A protocol of the main actor: all its subscribers live there, and no requirement need be asynchronous.
@MainActor
protocol View: AnyObject, Sendable {
  var lines: [String] { get set }
  func show(_ line: String) -> Bool
  func load() async -> Bool
}

@MainActor
final class Window: View {
  nonisolated let log = Log()
  var lines: [String] = []

  nonisolated init() {}

  func show(_ line: String) -> Bool {
    MainActor.preconditionIsolated()
    log.note("show")
    lines.append(line)
    return true
  }

  func load() async -> Bool {
    MainActor.preconditionIsolated()
    log.note("load")
    return true
  }
}
