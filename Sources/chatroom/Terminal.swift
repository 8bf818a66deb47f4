#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Darwin
#endif

/// What the program needs of the operating system, without Foundation: the demo also proves that a program that uses
/// the library need not link it.
@MainActor
enum Terminal {
  /// Whether input and output are terminals.
  static let isInteractive = isatty(0) == 1 && isatty(1) == 1

  /// Writes some text at once, also into a pipe.
  static func write(_ text: String) {
    print(text, terminator: "")
    fflush(nil)
  }

  /// Says on standard error what is wrong with the command line, and ends the program.
  static func refuse(_ text: String) -> Never {
    let line = Array("chatroom: \(text); chatroom --help lists the options\n".utf8)
    _ = line.withUnsafeBytes { platformWrite(2, $0.baseAddress, $0.count) }
    exit(64)
  }
}

// Inside `Terminal` this name means its own function.
private let platformWrite = write(_:_:_:)
