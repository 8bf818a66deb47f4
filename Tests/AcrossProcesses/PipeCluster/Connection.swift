import Foundation

/// Who a distributed actor is: the system in which it lives, and its number there.
package struct ActorNumber: Codable, Hashable, Sendable, CustomStringConvertible {
  /// A system, or rather one life of it: one that starts anew is another.
  package var system: UInt64
  package var number: Int

  package var description: String { "\(number)@\(String(system, radix: 16))" }
}

/// Why a remote call has no result.
package enum PipeError: Error, Hashable, Sendable {
  /// There is no connection, or it ended before the answer came.
  case connectionLost
  /// The system that answered knows no such actor.
  case unknownActor(ActorNumber)
  /// The actor threw an error, which is described.
  case thrown(String)
  /// What came cannot be understood.
  case malformed
}

/// What goes through a pipe, a line of JSON each.
enum Frame: Codable, Sendable {
  struct Call: Codable, Sendable {
    var number = 0
    let recipient: ActorNumber
    let target: String
    let substitutions: [String]
    let arguments: [Data]
  }

  /// What became of a call.
  enum Outcome: Codable, Sendable {
    case value(Data), void, unknownActor, thrown(String)
  }

  /// The first frame: who lives there.
  case residents([ActorNumber])
  case call(Call)
  case reply(number: Int, Outcome)
}

/// Two pipes to another system: calls and their replies, many at a time.
///
/// Neither sending nor receiving takes a thread of Swift's pool. A connection knows no time-out, and a caller's
/// cancellation does not end a call: it ends with the reply or with the connection.
final class Connection: Sendable {
  private struct State: Sendable {
    var hasEnded = false
    var lastNumber = 0
    var pending: [Int: CheckedContinuation<Frame.Outcome, any Error>] = [:]
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "pipe")
  private let output: FileHandle

  init(writing output: FileHandle) { self.output = output }

  /// Reads on a thread of its own until the other side ends.
  func read(
    from input: FileHandle, _ receive: @escaping @Sendable (Frame, Connection) -> Void,
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    Thread { [self] in
      var (text, bytes) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
      while case let count = Foundation.read(input.fileDescriptor, &bytes, bytes.count), count > 0 {
        text += bytes[..<count]
        while let end = text.firstIndex(of: 0x0A) {
          let frame = try? JSONDecoder().decode(Frame.self, from: text[..<end])
          text = Data(text[(end + 1)...])
          switch frame {
          case .reply(let number, let outcome):
            state.withLock { $0.pending.removeValue(forKey: number) }?.resume(returning: outcome)
          case let frame?: receive(frame, self)
          case nil: close()
          }
        }
      }
      close()
      onEnd()
    }.start()
  }

  /// Calls an actor on the other side.
  func call(_ call: Frame.Call) async throws -> Frame.Outcome {
    try await withCheckedThrowingContinuation { continuation in
      let number: Int? = state.withLock { state in
        if state.hasEnded { return nil }
        state.lastNumber += 1
        state.pending[state.lastNumber] = continuation
        return state.lastNumber
      }
      guard let number else { return continuation.resume(throwing: PipeError.connectionLost) }
      var call = call
      call.number = number
      send(.call(call))
    }
  }

  /// Sends a frame, after those before it.
  func send(_ frame: Frame) {
    queue.async { [self] in
      if state.withLock({ $0.hasEnded }) { return }
      do {
        try output.write(contentsOf: JSONEncoder().encode(frame) + [0x0A])
      } catch {
        close()
      }
    }
  }

  /// Ends it, and fails what waits for replies.
  func close() {
    let pending = state.withLock { state in
      if !state.hasEnded { queue.async { [output] in try? output.close() } }
      state.hasEnded = true
      defer { state.pending = [:] }
      return state.pending
    }
    for continuation in pending.values {
      continuation.resume(throwing: PipeError.connectionLost)
    }
  }
}
