import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many descriptors the process may have open.
enum DescriptorLimit {
  /// How many of them connections may use.
  ///
  /// What is left is for the event loops, which have three each, for the listening socket, and for files
  /// that extensions open.
  static var connections: Int {
    let all = sysconf(Int32(_SC_OPEN_MAX))
    guard all > 0 else { return .max }
    return max(1, Int(all) - 32 - 4 * System.coreCount)
  }
}
