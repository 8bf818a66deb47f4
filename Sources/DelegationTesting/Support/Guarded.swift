internal import Synchronization

/// State that one thread at a time may use.
///
/// Only short code of this module runs under the lock. No continuation is resumed, and no closure or value of the user
/// is called or released, under it.
///
/// On Linux the thread sanitizer does not see the futex of a `Mutex`. It does see the atomic, which the thread that has
/// the lock loads first and stores last.
struct Guarded<State: Sendable>: ~Copyable, Sendable {
  private let mutex: Mutex<State>
  private let trace = Atomic<Bool>(false)

  init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  borrowing func withLock<Result: Sendable, Failure>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { (state: inout sending State) throws(Failure) -> Result in
      _ = trace.load(ordering: .acquiring)
      defer { trace.store(true, ordering: .releasing) }
      return try body(&state)
    }
  }
}
