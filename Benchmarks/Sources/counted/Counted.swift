import Delegation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The calls that `.ci/calls` counts the instructions of.
///
/// It stops this program at the signals that it sends to itself, and goes on step by step in between. With the
/// argument `calls` it is the calls of which the allocations and switches count.
///
/// By itself the program only runs through.
@main
enum Counted {
  static func main() async {
    // Ignored, and yet seen by whoever traces the program.
    signal(SIGUSR1, SIG_IGN)
    signal(SIGUSR2, SIG_IGN)
    if CommandLine.arguments.dropFirst() == ["calls"] { await calls() } else { await run() }
  }

  /// On the pool's threads, as a server's code runs.
  @concurrent
  private static func run() async {
    for count in [1, 2, 3, 5, 10, 100] { await vote(among: count) }
    for count in [1, 3, 10, 100] { await voteAtOnce(among: count) }
    await askAtOnce(among: 3)
    for count in [1, 3] { await voteOfDelegates(among: count) }
    await loop(over: 100)
    for count in [1, 100] { await notify(count) }
    await notifyAndDrain(3)
    await post(to: 100)
  }

  /// Runs something often enough to be warm, then to be counted.
  ///
  /// The other threads stand still while it is counted. So the first time may come by code that did not run
  /// before, and by what the runtime sets up there once. Who wants to leave that out counts several times.
  static func count(
    _ name: String, units: Int, times: Int = 1, _ work: () async -> Void
  ) async {
    for _ in 0..<50 { await work() }
    for _ in 0..<times {
      announce(name, units: units)
      await work()
      raise(SIGUSR2)
    }
  }

  /// Says what is counted from here to the second signal.
  private static func announce(_ name: String, units: Int) {
    let malloc = Int(bitPattern: dlsym(nil, "malloc"))
    let taskSwitch = Int(bitPattern: dlsym(nil, "swift_task_switch"))
    print("\(name)|\(units)|\(malloc)|\(taskSwitch)")
    fflush(nil)
    // The pool's threads block all signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGUSR1)
    sigaddset(&signals, SIGUSR2)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGUSR1)
  }

  private static func vote(among number: Int) async {
    let hub = DelegateHub()
    let members = (0..<number).map { _ in Member() }
    for member in members { hub.subscribe(member, to: (any Listener).self) }
    await count("a vote among \(number)", units: 2) {
      for _ in 0..<2 {
        guard await hub[(any Listener).self].vote({ await $0.mayPass(7) }) else {
          fatalError("nobody objects")
        }
      }
    }
    withExtendedLifetime(members) {}
  }

  /// The same with a closure that awaits nothing.
  private static func voteAtOnce(among number: Int) async {
    let hub = DelegateHub()
    let members = (0..<number).map { _ in Member() }
    for member in members { hub.subscribe(member, to: (any Listener).self) }
    await count("a synchronous vote among \(number)", units: 2) {
      for _ in 0..<2 {
        guard await hub[(any Listener).self].vote({ $0.maySit(7) }) else {
          fatalError("nobody objects")
        }
      }
    }
    withExtendedLifetime(members) {}
  }

  private static func askAtOnce(among number: Int) async {
    let hub = DelegateHub()
    let members = (0..<number).map { _ in Member() }
    for member in members { hub.subscribe(member, to: (any Listener).self) }
    await count("a synchronous ask among \(number)", units: 2) {
      for _ in 0..<2 {
        let height = await hub[(any Listener).self].ask(combining: .sum()) { $0.measure(7) }
        guard height == 7 * number else { fatalError("all are as tall") }
      }
    }
    withExtendedLifetime(members) {}
  }

  /// A vote by one protocol's half of the hub, which is to cost nothing.
  private static func voteOfDelegates(among number: Int) async {
    let delegates = Delegates<any Listener>()
    let members = (0..<number).map { _ in Member() }
    for member in members { delegates.registry.subscribe(member) }
    await count("a vote among \(number), by Delegates", units: 2) {
      for _ in 0..<2 {
        guard await delegates.vote({ await $0.mayPass(7) }) else { fatalError("nobody objects") }
      }
    }
    withExtendedLifetime(members) {}
  }

  /// What the vote is compared with.
  private static func loop(over number: Int) async {
    struct Box {
      weak var member: (any Listener)?
    }
    let members = (0..<number).map { _ in Member() }
    let boxes = members.map { Box(member: $0) }
    await count("a turn of a loop over \(number) weak references", units: number) {
      for box in boxes {
        guard await box.member?.mayPass(7) == true else { fatalError("nobody objects") }
      }
    }
    withExtendedLifetime(members) {}
  }

  private static func notify(_ number: Int) async {
    let hub = DelegateHub()
    let members = (0..<number).map { _ in Member() }
    for member in members { hub.subscribe(member, to: (any Listener).self) }
    await count("a delivery to one of \(number), in bursts of 10", units: number * 10) {
      for _ in 0..<10 { hub[(any Listener).self].notify { $0.didPass(7) } }
      await hub.drain()
    }
    withExtendedLifetime(members) {}
  }

  private static func notifyAndDrain(_ number: Int) async {
    let hub = DelegateHub()
    let members = (0..<number).map { _ in Member() }
    for member in members { hub.subscribe(member, to: (any Listener).self) }
    await count("a notification to \(number), and the drain", units: 1) {
      hub[(any Listener).self].notify { $0.didPass(7) }
      await hub.drain()
    }
    withExtendedLifetime(members) {}
  }

  private static func post(to number: Int) async {
    let hub = DelegateHub()
    let members = (0..<number).map { _ in Member() }
    for member in members { hub.subscribe(member, to: (any Listener).self) }
    for _ in 0..<50 {
      for _ in 0..<20 { hub[(any Listener).self].notify { $0.didPass(7) } }
      await hub.drain()
    }
    // The first one wakes the hub.
    hub[(any Listener).self].notify { $0.didPass(7) }
    announce("a post to \(number) while the hub is awake", units: 20)
    for _ in 0..<20 { hub[(any Listener).self].notify { $0.didPass(7) } }
    raise(SIGUSR2)
    await hub.drain()
    withExtendedLifetime(members) {}
  }
}

protocol Listener: AnyObject, Sendable {
  func mayPass(_ number: Int) async -> Bool
  func weigh(_ number: Int) async -> Int
  func find(_ number: Int) async -> Int?
  func maySit(_ number: Int) -> Bool
  func measure(_ number: Int) -> Int
  func didPass(_ number: Int)
}

final class Member: Listener {
  func mayPass(_ number: Int) async -> Bool { number > 0 }
  func weigh(_ number: Int) async -> Int { number }
  func find(_ number: Int) async -> Int? { nil }
  func maySit(_ number: Int) -> Bool { number > 0 }
  func measure(_ number: Int) -> Int { number }
  func didPass(_ number: Int) {}
}
