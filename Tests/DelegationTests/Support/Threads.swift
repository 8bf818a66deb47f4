import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Threads of their own, as many as asked for, whatever the number of cores.
enum Threads {
  private final class Start {
    let index: Int
    let body: @Sendable (Int) -> Void

    init(index: Int, body: @escaping @Sendable (Int) -> Void) {
      self.index = index
      self.body = body
    }
  }

  /// Runs a closure on that many threads at once, and waits until all have returned.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).map { start(Start(index: $0, body: body)) }
    for thread in threads { pthread_join(thread, nil) }
  }

  /// Lets another thread run.
  static func pause() {
    sched_yield()
  }

  /// Lets other threads run for so many turns, or a tenth of a second if those take longer.
  static func pause(_ turns: Int) {
    let end = ContinuousClock.now + .milliseconds(100)
    for _ in 0..<turns where ContinuousClock.now < end { pause() }
  }

  private static func start(_ start: Start) -> pthread_t {
    let argument = Unmanaged.passRetained(start).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
      let result = pthread_create(&thread, nil, { Threads.main($0) }, argument)
      guard result == 0, let thread else { fatalError("no thread: \(result)") }
      return thread
    #else
      var thread = pthread_t()
      let result = pthread_create(&thread, nil, { Threads.main($0!) }, argument)
      guard result == 0 else { fatalError("no thread: \(result)") }
      return thread
    #endif
  }

  private static func main(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    start.body(start.index)
    return nil
  }
}

/// Where threads meet before each round, so that they begin it at once.
///
/// On a machine that is busy with other things threads that wait for each other get little of it, and
/// seldom run at once: a hundred thousand rounds would take hours there and find nothing. The rounds
/// therefore end when there have been enough, or after some time, the first two excepted.
final class Meeting: Sendable {
  private let size: Int
  private let end: ContinuousClock.Instant
  private let arrivals = Atomic<Int>(0)
  /// The first round that does not take place, once a thread has found that the time is up.
  ///
  /// It is set before its meeting, so all that have met see the same.
  private let closing = Atomic<Int>(.max)

  init(of size: Int, within duration: Duration = Effort.timeOfARace) {
    self.size = size
    end = .now + duration
  }

  /// Arrives, and waits for the others to arrive at the same round.
  ///
  /// - Parameter round: the number of rounds before this one.
  /// - Returns: whether it takes place. If not, then for nobody, and no other one does.
  @discardableResult
  func await(_ round: Int) -> Bool {
    if round > 1, ContinuousClock.now >= end {
      closing.min(round, ordering: .sequentiallyConsistent)
    }
    arrivals.add(1, ordering: .sequentiallyConsistent)
    var looks = 0
    while arrivals.load(ordering: .sequentiallyConsistent) < (round + 1) * size {
      looks += 1
      // On a machine with one free core the other one needs this one's.
      if looks > 1000 { Threads.pause() }
    }
    return round < closing.load(ordering: .sequentiallyConsistent)
  }
}

/// A number that threads count up.
final class Count: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func add(_ number: Int) { count.wrappingAdd(number, ordering: .sequentiallyConsistent) }
}
