import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Clients that do what they should not, in the rooms of those who behave.
final class Misbehaviour: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var channels: [any Channel] = []
    var disconnects = 0
    var flood = 0
  }

  private let plan: LoadPlan
  private let state = Mutex(State())
  private static let slowReaders = 3
  private static let floodLength = 2000

  init(_ plan: LoadPlan) {
    self.plan = plan
  }

  func start() async throws {
    for index in 0..<Self.slowReaders {
      // Joins and reads nothing, with little room in the kernel.
      try await keep(connect("slow\(index)", room: index, receiveBuffer: 4096, reads: false))
    }
    // Stops in the middle of a line, and is not heard of again.
    let half = try await connect("half", room: 0, reads: false)
    try await half.writeAndFlush(ByteBuffer(string: "say room0 and th")).get()
    keep(half)
    try await flood()
    let task = Task { await self.comeAndGo() }
    state.withLock { $0.task = task }
  }

  /// Loads the extension that hangs.
  func hang() async throws {
    guard let (name, password) = plan.administrator else { return }
    let channel = try await bootstrap().connect(host: plan.host, port: plan.port).get()
    try await channel.writeAndFlush(
      ByteBuffer(string: "login \(name) \(password)\nload hanging\n")
    ).get()
    keep(channel)
  }

  /// Lets them go on where they are; what they did.
  func stop() async -> String {
    let task = state.withLock { $0.task }
    task?.cancel()
    await task?.value
    return state.withLock { state in
      "\(Self.slowReaders) read nothing, 1 stopped in the middle of a line, "
        + "1 said \(state.flood) things at once, \(state.disconnects) disconnected in between"
        + (plan.administrator == nil ? "" : ", an extension hung")
    }
  }

  /// Says as much as it can.
  private func flood() async throws {
    let channel = try await connect("flood", room: 0)
    let lines = (0..<Self.floodLength).map { "say room0 flood \($0)\n" }.joined()
    channel.writeAndFlush(ByteBuffer(string: lines), promise: nil)
    keep(channel)
    state.withLock { $0.flood = Self.floodLength }
  }

  /// Joins and disconnects without a word, most times in the middle of a message to all.
  private func comeAndGo() async {
    while !Task.isCancelled {
      guard
        let channel = try? await connect(
          "hasty", room: state.withLock { $0.disconnects } % plan.rooms)
      else { return }
      try? await Task.sleep(for: .milliseconds(30))
      // A reset, so that what is on its way is lost.
      let options = channel as? any SocketOptionProvider
      try? await options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
      try? await channel.close().get()
      state.withLock { $0.disconnects += 1 }
    }
  }

  private func keep(_ channel: any Channel) {
    state.withLock { $0.channels.append(channel) }
  }

  private func bootstrap() -> ClientBootstrap {
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: false)
  }

  private func connect(
    _ name: String, room: Int, receiveBuffer: Int? = nil, reads: Bool = true
  ) async throws -> any Channel {
    var bootstrap = bootstrap().channelOption(.autoRead, value: reads)
    if let receiveBuffer {
      bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
    }
    let channel = try await bootstrap.connect(host: plan.host, port: plan.port).get()
    let lines = "login \(name)\njoin room\(room % plan.rooms)\n"
    try await channel.writeAndFlush(ByteBuffer(string: lines)).get()
    return channel
  }
}
