#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#else
  #error(
    "chatroom needs open, read, write, poll, signal and isatty: add a branch with this platform's."
  )
#endif

/// The few things that are asked of the operating system.
///
/// Foundation has them too, but the demo is also the proof that a program which uses the library does
/// not have to link it.
enum System {
  /// What a program says of itself when it ends: the values of `sysexits.h`.
  enum ExitStatus: Int32 {
    case ok = 0
    case usage = 64
    case badData = 65
    case noInput = 66
    case wrongAccounts = 70
    case cannotReadOrWrite = 74
  }

  /// Why a system call failed.
  struct Failure: Error, Equatable {
    let code: Int32

    var isBrokenPipe: Bool { code == EPIPE }
    var text: String { String(cString: strerror(code)) }
  }

  /// A file descriptor that is open from the start.
  enum Stream: Int32 {
    case input = 0
    case output = 1
    case error = 2

    var isTerminal: Bool { isatty(rawValue) == 1 }
  }

  /// Lets a write to a closed pipe fail, in place of ending the program.
  static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }

  /// Writes all of `text`, waiting for a slow reader.
  static func write(_ text: String, to stream: Stream) throws(Failure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { platformWrite(stream.rawValue, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        wait(for: stream, Int16(POLLOUT))
      } else if errno != EINTR {
        throw Failure(code: errno)
      }
    }
  }

  /// Reads what there is, at most so much, waiting for the first byte; nothing at the end.
  static func read(atMost limit: Int, from stream: Stream) throws(Failure) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: limit)
    while true {
      let count = platformRead(stream.rawValue, &chunk, limit)
      if count >= 0 {
        chunk.removeLast(limit - count)
        return chunk
      } else if errno == EAGAIN {
        wait(for: stream, Int16(POLLIN))
      } else if errno != EINTR {
        throw Failure(code: errno)
      }
    }
  }

  /// Waits for a stream that somebody who shares it has made non-blocking.
  private static func wait(for stream: Stream, _ events: Int16) {
    var waiting = pollfd(fd: stream.rawValue, events: events, revents: 0)
    poll(&waiting, 1, -1)
  }

  /// Reads a whole file of a megabyte at most; what is not UTF-8 in it is replaced.
  static func contents(ofFile path: String) throws(Failure) -> String {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = platformRead(descriptor, &chunk, chunk.count)
      if count > 0 {
        contents += chunk[..<count]
        if contents.count > 1_000_000 { throw Failure(code: EFBIG) }
      } else if count == 0 {
        return String(decoding: contents, as: UTF8.self)
      } else if errno != EINTR {
        throw Failure(code: errno)
      }
    }
  }

  static func exit(_ status: ExitStatus) -> Never {
    platformExit(status.rawValue)
  }
}

// Inside `System` these names mean its own functions.
private let platformRead = read(_:_:_:)
private let platformWrite = write(_:_:_:)
private let platformExit = exit(_:)
