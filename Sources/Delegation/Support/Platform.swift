#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif canImport(WASILibc)
  internal import WASILibc
#elseif canImport(WinSDK)
  internal import WinSDK
  internal import ucrt
#elseif canImport(Glibc)
  internal import Glibc
#else
  #error(
    """
    Delegation does not know this platform's C library. Add a branch for it here, and in the three \
    functions below: how to write to standard error, yield to another thread, and number a thread.
    """)
#endif

/// All calls of the platform's C library.
///
/// The only other difference between platforms is Dispatch: where Dispatch is missing, what needs it is left out.
package enum Platform {
  /// Writes to standard error, with one call, so that lines of several threads do not mix.
  static func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    // The result is ignored: an error here could not be reported anywhere.
    #if canImport(WinSDK)
      _ = _write(2, bytes, UInt32(bytes.count))
    #else
      _ = write(2, bytes, bytes.count)
    #endif
  }

  static func yieldThread() {
    #if canImport(WinSDK)
      _ = SwitchToThread()
    #elseif canImport(WASILibc)
      // WASI has one thread only.
    #else
      _ = sched_yield()
    #endif
  }

  /// A number that no other thread has as long as the calling thread lives.
  package static var threadID: UInt {
    #if canImport(Darwin) || canImport(Musl) || canImport(Android)
      UInt(bitPattern: pthread_self())
    #elseif canImport(WASILibc)
      0
    #elseif canImport(WinSDK)
      UInt(GetCurrentThreadId())
    #else
      UInt(pthread_self())
    #endif
  }
}
