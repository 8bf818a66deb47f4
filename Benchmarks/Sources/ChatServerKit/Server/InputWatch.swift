import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Notices the end of standard input: whoever started the server is gone.
enum InputWatch {
  static func start(_ onEnd: @escaping @Sendable () -> Void) {
    // A thread of its own, for it waits for as long as the server runs.
    DispatchQueue(label: "input").async {
      var byte: UInt8 = 0
      while read(STDIN_FILENO, &byte, 1) > 0 {}
      onEnd()
    }
  }
}
