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
