internal import Synchronization

/// The library's lock.
///
/// Only short code of the library runs under the lock. User code runs outside, and whatever could run a user's `deinit`
/// is released outside.
///
/// On Linux a thread claims the lock before it locks the mutex, which protects the state. One thread at a time has the
/// claim. A thread that has waited too long locks the mutex without the claim, and sleeps there. Why not the mutex
/// alone:
///
/// - The kernel hands a mutex from one sleeping thread to the next. As soon as more threads than cores want it, each
///   section costs a context switch, so only few threads should sleep.
/// - The thread sanitizer does not see the system calls of `Mutex`, and would report false races, in users' tests as
///   well. It sees atomics.
///
/// Elsewhere `Mutex` is the system's own lock, which has neither problem.
struct Lock<State: Sendable>: ~Copyable, Sendable {
  let mutex: Mutex<State>

  #if os(Linux) || os(Android)
    /// Whether a thread has the claim; only that thread clears the flag.
    let isClaimed = Atomic(false)
    /// For the thread sanitizer: the thread that has the mutex loads this first in each section, and stores it last.
    ///
    /// So each section's load sees the store of the section before. The value has no meaning.
    let handover = Atomic(false)
  #endif

  init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Runs a closure with exclusive access to the state.
  ///
  /// The closure is inlined once, and its result is not wrapped in an optional. `withLockIfAvailable` would need a
  /// second copy and the optional; it made each notification a third slower.
  @inline(__always)
  borrowing func withLock<Result: Sendable, Failure>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    #if os(Linux) || os(Android)
      let hasClaim = isClaimed.claim() || isClaimed.waitToClaim()
      defer { if hasClaim { isClaimed.store(false, ordering: .releasing) } }
    #endif
    return try mutex.withLock { (state: inout sending State) throws(Failure) -> Result in
      #if os(Linux) || os(Android)
        _ = handover.load(ordering: .acquiring)
        defer { handover.store(true, ordering: .releasing) }
      #endif
      return try body(&state)
    }
  }
}

extension Atomic<Bool> {
  /// Takes a claim, unless another thread has it; returns whether it did.
  @inline(__always)
  func claim() -> Bool {
    compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
  }

  #if os(Linux) || os(Android)
    /// Tries to claim a lock, first in a loop and then with a yield between the tries.
    ///
    /// Not `@inline(__always)`: a thread that comes here waits anyway, and the code at each use of a lock stays short.
    ///
    /// - Returns: whether the thread has the claim; if not, it has to sleep.
    func waitToClaim() -> Bool {
      for attempt in 0..<60 {
        if attempt >= 20 { Platform.yieldThread() }
        if !load(ordering: .relaxed), claim() { return true }
      }
      return false
    }
  #endif
}
