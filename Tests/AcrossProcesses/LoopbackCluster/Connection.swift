import Dispatch
import Foundation

/// A connection between two processes: calls and their replies, many at a time.
///
/// Neither sending nor receiving takes a thread of Swift's pool. It knows no time-out, and a caller's
/// cancellation does not end a call: it ends with the reply or with the connection.
final class Connection: Sendable {
  typealias Receiver = @Sendable (Frame.Call, Connection) -> Void

  private struct State: Sendable {
    var isClosed = false
    var lastNumber: UInt64 = 0
    var pending: [UInt64: CheckedContinuation<Frame.Outcome, any Error>] = [:]
    var line: Line?
  }

  /// The socket, which its reader and its writer share.
  private final class Line: Sendable {
    let socket: Socket

    init(_ socket: consuming Socket) {
      self.socket = socket
    }
  }

  private let state = Locked(State())
  private let writer = DispatchQueue(label: "loopback.writer")
  private let receiver: Receiver

  /// Connects to who listens on a port, or finds out that nobody does.
  ///
  /// Returns at once; what is sent meanwhile waits.
  init(to port: UInt16, receiver: @escaping Receiver) {
    self.receiver = receiver
    writer.async { [self] in
      do {
        begin(Line(try Socket.connected(to: port)))
      } catch {
        close()
      }
    }
  }

  /// Takes over a socket that is connected.
  init(_ socket: consuming Socket, receiver: @escaping Receiver) {
    self.receiver = receiver
    begin(Line(socket))
  }

  /// Whether it has ended.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Calls an actor on the other side.
  func call(
    _ recipient: LoopbackID, target: String, substitutions: [String], arguments: [Data]
  ) async throws -> Frame.Outcome {
    try await withCheckedThrowingContinuation { continuation in
      let number: UInt64? = state.withLock { state in
        if state.isClosed { return nil }
        state.lastNumber += 1
        state.pending[state.lastNumber] = continuation
        return state.lastNumber
      }
      guard let number else { return continuation.resume(throwing: LoopbackError.connectionLost) }
      send(
        .call(
          Frame.Call(
            number: number, recipient: recipient, target: target, substitutions: substitutions,
            arguments: arguments)))
    }
  }

  /// Sends a frame, after those before it.
  func send(_ frame: Frame) {
    writer.async { [self] in
      // Whoever waits for an answer learns of a failure from the connection's end.
      do {
        try state.withLock { $0.line }?.socket.write(frame.encoded())
      } catch {
        close()
      }
    }
  }

  /// Ends it, and fails what waits for replies.
  func close() {
    let (line, pending) = state.withLock { state in
      state.isClosed = true
      defer { (state.line, state.pending) = (nil, [:]) }
      return (state.line, state.pending)
    }
    line?.socket.end()
    for continuation in pending.values {
      continuation.resume(throwing: LoopbackError.connectionLost)
    }
  }

  private func begin(_ line: Line) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.line = line }
      return state.isClosed
    }
    if isClosed { return }
    Thread { [self] in
      while let frame = try? Frame.read(from: line.socket) { take(frame) }
      close()
    }.start()
  }

  private func take(_ frame: Frame) {
    switch frame {
    case .call(let call): receiver(call, self)
    case .reply(let number, let outcome):
      state.withLock { $0.pending.removeValue(forKey: number) }?.resume(returning: outcome)
    }
  }
}
