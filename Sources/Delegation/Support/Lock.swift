#if DELEGATION_PTHREAD_LOCK
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// The library's lock as the thread sanitizer's build has it.
  ///
  /// On Linux the sanitizer does not see the futex operations of `Synchronization.Mutex` and reports
  /// races that are none; it does see pthread's. `.ci/run` builds with this variant for that lane.
  ///
  /// `@unchecked Sendable`: `state` is reached only between lock and unlock of `mutex`.
  @usableFromInline
  struct Lock<State>: ~Copyable, @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let state: UnsafeMutablePointer<State>

    @usableFromInline
    init(_ state: consuming State) {
      pthread_mutex_init(mutex, nil)
      self.state = .allocate(capacity: 1)
      self.state.initialize(to: state)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
      state.deinitialize(count: 1)
      state.deallocate()
    }

    @usableFromInline
    borrowing func withLock<Result, Failure>(
      _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&state.pointee)
    }
  }
#else
  public import Synchronization

  /// The library's lock.
  ///
  /// The rule for every use: what runs under it is the library's own code and short. Closures,
  /// handlers and anything whose release could run a `deinit` from outside leave the lock first.
  @usableFromInline
  struct Lock<State: Sendable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<State>

    @inlinable
    init(_ state: consuming sending State) {
      mutex = Mutex(state)
    }

    @inlinable
    @inline(__always)
    borrowing func withLock<Result: Sendable, Failure>(
      _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      try mutex.withLock { (state: inout sending State) throws(Failure) -> Result in
        try body(&state)
      }
    }
  }
#endif
