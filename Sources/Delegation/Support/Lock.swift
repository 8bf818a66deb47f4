public import Synchronization

#if os(Linux) || os(Android)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Android)
    internal import Android
  #endif
#endif

/// The library's lock.
///
/// The rule for every use: what runs under it is the library's own code and short. Closures,
/// handlers and anything whose release could run a `deinit` from outside leave the lock first.
///
/// On Linux it adds two things to `Mutex`. A thread tries for a while before it goes to sleep: there
/// the kernel hands a mutex from one sleeping thread to the next, and as soon as more threads than
/// cores want it, each section costs a switch of threads. And what is done under the lock begins with
/// an acquiring load and ends with a releasing store, because the thread sanitizer does not see the
/// system calls of `Mutex` and would report races that are none, in our users' tests as well.
/// Elsewhere `Mutex` is the system's own lock, which needs neither.
@usableFromInline
struct Lock<State: Sendable>: ~Copyable, Sendable {
  @usableFromInline
  let mutex: Mutex<State>

  #if os(Linux) || os(Android)
    /// What the thread sanitizer goes by.
    ///
    /// Only the thread that holds `mutex` loads and stores it, so a load sees the store of the section
    /// before. The value means nothing.
    @usableFromInline
    let handover = Atomic(false)
  #endif

  @inlinable
  init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  /// Runs a closure that has the state to itself.
  @inlinable
  @inline(__always)
  borrowing func withLock<Result: Sendable, Failure>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    #if os(Linux) || os(Android)
      if let result = try withLockIfFree(body) { return result }
      return try withLockOnceFree(body)
    #else
      try mutex.withLock { (state: inout sending State) throws(Failure) -> Result in
        try body(&state)
      }
    #endif
  }
}

#if os(Linux) || os(Android)
  extension Lock {
    /// Runs the closure if no other thread has the lock.
    @inlinable
    @inline(__always)
    borrowing func withLockIfFree<Result: Sendable, Failure>(
      _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
      try mutex.withLockIfAvailable { (state: inout sending State) throws(Failure) -> Result in
        _ = handover.load(ordering: .acquiring)
        defer { handover.store(true, ordering: .releasing) }
        return try body(&state)
      }
    }

    /// Runs the closure as soon as the lock is free: tries, then gives others the core between the
    /// tries, then sleeps.
    ///
    /// Not inlined: a thread that comes here waits in any case, and what is inlined at each use stays
    /// short.
    @inlinable
    @inline(never)
    borrowing func withLockOnceFree<Result: Sendable, Failure>(
      _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      for attempt in 0..<60 {
        if attempt >= 20 { yieldThread() }
        if let result = try withLockIfFree(body) { return result }
      }
      return try mutex.withLock { (state: inout sending State) throws(Failure) -> Result in
        _ = handover.load(ordering: .acquiring)
        defer { handover.store(true, ordering: .releasing) }
        return try body(&state)
      }
    }
  }

  /// Gives the core to another thread that is ready to run.
  ///
  /// A function of its own, because inlinable code cannot name what an internal import brings. Without
  /// a C library that has the call the tries go on without a pause, and the lock is taken all the same.
  @usableFromInline
  func yieldThread() {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android)
      _ = sched_yield()
    #endif
  }
#endif
