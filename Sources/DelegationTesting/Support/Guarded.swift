internal import Synchronization

/// State that any thread may use, one at a time.
///
/// The invariant of every use: what runs under the lock is this module's own code and short. No
/// continuation is resumed, and no closure or value of the user's is run or released, under it.
///
/// On Linux the thread sanitizer does not see the futex of a `Mutex`. It does see the atomic, which is
/// loaded first and stored last by the thread that has the lock.
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
