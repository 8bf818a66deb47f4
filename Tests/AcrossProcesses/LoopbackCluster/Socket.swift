import Foundation

/// A TCP socket on the loopback interface, closed when nobody has it any more.
///
/// Everything here waits: it is for threads of one's own.
struct Socket: ~Copyable, Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Listens on a free port.
  static func listening() throws -> Socket {
    let socket = try open()
    try withAddress(port: 0) { try check("bind", bind(socket.descriptor, $0, $1)) }
    try check("listen", listen(socket.descriptor, 64))
    return socket
  }

  /// Connects to who listens on a port.
  static func connected(to port: UInt16) throws -> Socket {
    let socket = try open()
    try withAddress(port: port) { try check("connect", connect(socket.descriptor, $0, $1)) }
    try socket.sendAtOnce()
    return socket
  }

  /// The next one who connects.
  func accepted() throws -> Socket {
    let socket = Socket(descriptor: try Self.check("accept", accept(descriptor, nil, nil)))
    try socket.sendAtOnce()
    return socket
  }

  /// Where it listens.
  var port: UInt16 {
    get throws {
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          _ = try Self.check("getsockname", getsockname(descriptor, $0, &size))
        }
      }
      return UInt16(bigEndian: address.sin_port)
    }
  }

  /// Reads that many bytes; `nil` if there are none because the other side has ended.
  func read(_ count: Int) throws -> Data? {
    var bytes = Data(count: count)
    var filled = 0
    while filled < count {
      let read = bytes.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress! + filled, count - filled, 0)
      }
      if read == 0, filled == 0 { return nil }
      guard read > 0 else { throw LoopbackError.connectionLost }
      filled += read
    }
    return bytes
  }

  /// Writes everything.
  func write(_ bytes: Data) throws {
    var written = 0
    while written < bytes.count {
      let sent = bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress! + written, bytes.count - written, Self.withoutSignal)
      }
      guard sent > 0 else { throw LoopbackError.connectionLost }
      written += sent
    }
  }

  /// Ends the connection for both sides; whoever waits here comes back.
  func end() {
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Small frames are not to wait for the acknowledgement of those before.
  private func sendAtOnce() throws {
    try set(Int32(IPPROTO_TCP), TCP_NODELAY)
    #if canImport(Darwin)
      try set(SOL_SOCKET, SO_NOSIGPIPE)
    #endif
  }

  private func set(_ level: Int32, _ option: Int32) throws {
    var one: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    try Self.check("setsockopt", setsockopt(descriptor, level, option, &one, size))
  }

  private static func open() throws -> Socket {
    #if canImport(Glibc)
      // Not inherited by other processes that start: they would keep the connection open.
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    return Socket(descriptor: try check("socket", socket(AF_INET, type, 0)))
  }

  private static func withAddress(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Int32
  ) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    _ = try withUnsafePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  #if canImport(Darwin)
    private static let withoutSignal: Int32 = 0
  #else
    private static let withoutSignal = Int32(MSG_NOSIGNAL)
  #endif

  @discardableResult
  private static func check(_ call: String, _ result: Int32) throws -> Int32 {
    guard result >= 0 else { throw LoopbackError.system(call: call, code: errno) }
    return result
  }
}
