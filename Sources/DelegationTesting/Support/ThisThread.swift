#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif canImport(Darwin)
  internal import Darwin
#elseif os(Windows)
  internal import WinSDK
#endif

/// The current thread.
enum ThisThread {
  /// A number that no other thread has as long as this one lives.
  static var id: UInt {
    #if canImport(Glibc)
      pthread_self()
    #elseif canImport(Musl) || canImport(Android) || canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #elseif os(Windows)
      UInt(GetCurrentThreadId())
    #else
      // There is one thread only.
      0
    #endif
  }
}
