#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif canImport(WASILibc)
  internal import WASILibc
#elseif canImport(ucrt)
  internal import ucrt
#else
  #error(
    "Delegation: name this platform's C library above, whose `write` puts a line on standard error."
  )
#endif

/// The program's standard error: the only direct call of the operating system in the library, beside
/// `sched_yield`.
enum StandardError {
  private static let descriptor: Int32 = 2

  /// Writes a text as one line with one call, so that lines of several threads do not mix.
  static func write(line: String) {
    let bytes = Array((line.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n").utf8)
    // The result is ignored: an error here could not be reported anywhere.
    #if canImport(ucrt)
      _ = _write(descriptor, bytes, UInt32(bytes.count))
    #elseif canImport(Darwin)
      _ = Darwin.write(descriptor, bytes, bytes.count)
    #elseif canImport(Glibc)
      _ = Glibc.write(descriptor, bytes, bytes.count)
    #elseif canImport(Musl)
      _ = Musl.write(descriptor, bytes, bytes.count)
    #elseif canImport(Android)
      _ = Android.write(descriptor, bytes, bytes.count)
    #elseif canImport(WASILibc)
      _ = WASILibc.write(descriptor, bytes, bytes.count)
    #endif
  }
}
