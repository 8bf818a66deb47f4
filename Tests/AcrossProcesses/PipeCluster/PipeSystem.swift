import Distributed
import Foundation

/// Distributed actors in other processes of one machine, called through pipes.
///
/// As with a real cluster nobody keeps a proxy alive, a call ends neither with the caller's
/// cancellation nor by a time-out, and a process that is gone fails the calls to it.
package final class PipeSystem: DistributedActorSystem {
  package typealias ActorID = ActorNumber
  package typealias SerializationRequirement = any Codable

  /// An actor that lives here, not kept alive.
  ///
  /// `@unchecked Sendable`: written in `init`, and after that only by the runtime.
  private final class Resident: @unchecked Sendable {
    weak var actor: (any DistributedActor)?

    init(_ actor: any DistributedActor) { self.actor = actor }
  }

  private struct State: Sendable {
    var lastNumber = 0
    var residents: [ActorNumber: Resident] = [:]
    /// The connections, by the systems to which they lead.
    var connections: [UInt64: Connection] = [:]
  }

  private let state = Locked(State())
  private let name = UInt64.random(in: 1 ... .max)

  package init() {
    // A process that is gone is an error of the one that writes to it.
    signal(SIGPIPE, SIG_IGN)
  }

  deinit { shutDown() }

  /// Ends all connections.
  package func shutDown() {
    let connections = state.withLock { state in
      defer { state.connections = [:] }
      return state.connections.values
    }
    for connection in connections { connection.close() }
  }

  /// Connects to a process, and waits until it has told who lives there.
  ///
  /// - Returns: its actors; none if it has ended before.
  package func connect(reading input: FileHandle, writing output: FileHandle) async -> [ActorNumber]
  {
    let (actors, continuation) = AsyncStream.makeStream(of: [ActorNumber].self)
    let connection = Connection(writing: output)
    connection.read(from: input) { [weak self] frame, connection in
      guard case .residents(let ids) = frame else { return }
      for id in ids { self?.state.withLock { $0.connections[id.system] = connection } }
      continuation.yield(ids)
    } onEnd: {
      continuation.finish()
    }
    return await actors.first { _ in true } ?? []
  }

  /// Connects to another system in this process.
  package func connect(to other: PipeSystem) {
    let (there, back) = (Pipe(), Pipe())
    let connection = Connection(writing: there.fileHandleForWriting)
    state.withLock { $0.connections[other.name] = connection }
    connection.read(from: back.fileHandleForReading) { _, _ in }
    other.serve(reading: there.fileHandleForReading, writing: back.fileHandleForWriting)
  }

  /// Answers calls until the other side ends.
  ///
  /// - Parameters:
  ///   - input: what the other side writes.
  ///   - output: what it reads.
  ///   - residents: the actors that it is told of first.
  ///   - onEnd: what to do in the end.
  package func serve(
    reading input: FileHandle, writing output: FileHandle, residents: [ActorNumber] = [],
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    let connection = Connection(writing: output)
    connection.send(.residents(residents))
    connection.read(
      from: input,
      { [weak self] frame, connection in
        guard let self, case .call(let call) = frame else { return }
        receive(call) { connection.send(.reply(number: call.number, $0)) }
      }, onEnd: onEnd)
  }

  private func receive(
    _ call: Frame.Call, replying reply: @escaping @Sendable (Frame.Outcome) -> Void
  ) {
    guard let actor = resident(call.recipient) else { return reply(.unknownActor) }
    Task {
      var decoder = InvocationDecoder(
        substitutions: call.substitutions, arguments: call.arguments[...])
      do {
        try await executeDistributedTarget(
          on: actor, target: RemoteCallTarget(call.target), invocationDecoder: &decoder,
          handler: ResultHandler(reply: reply))
      } catch {
        reply(.thrown(String(describing: error)))
      }
    }
  }

  package func resolve<Act>(id: ActorNumber, as actorType: Act.Type) throws -> Act?
  where Act: DistributedActor, Act.ID == ActorNumber {
    guard id.system == name else { return nil }
    guard let actor = resident(id) as? Act else { throw PipeError.unknownActor(id) }
    return actor
  }

  package func assignID<Act>(_ actorType: Act.Type) -> ActorNumber
  where Act: DistributedActor, Act.ID == ActorNumber {
    state.withLock { state in
      state.lastNumber += 1
      return ActorNumber(system: name, number: state.lastNumber)
    }
  }

  package func actorReady<Act>(_ actor: Act)
  where Act: DistributedActor, Act.ID == ActorNumber {
    state.withLock { $0.residents[actor.id] = Resident(actor) }
  }

  package func resignID(_ id: ActorNumber) {
    _ = state.withLock { $0.residents.removeValue(forKey: id) }
  }

  private func resident(_ id: ActorNumber) -> (any DistributedActor)? {
    state.withLock { $0.residents[id] }?.actor
  }

  package func makeInvocationEncoder() -> InvocationEncoder { InvocationEncoder() }

  package func remoteCall<Act, Err, Res>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder,
    throwing: Err.Type, returning: Res.Type
  ) async throws -> Res
  where Act: DistributedActor, Act.ID == ActorNumber, Err: Error, Res: Codable {
    guard case .value(let data) = try await call(actor.id, target, invocation) else {
      throw PipeError.malformed
    }
    return try JSONDecoder().decode(Res.self, from: data)
  }

  package func remoteCallVoid<Act, Err>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder,
    throwing: Err.Type
  ) async throws where Act: DistributedActor, Act.ID == ActorNumber, Err: Error {
    _ = try await call(actor.id, target, invocation)
  }

  private func call(
    _ recipient: ActorNumber, _ target: RemoteCallTarget, _ invocation: InvocationEncoder
  ) async throws -> Frame.Outcome {
    guard let connection = state.withLock({ $0.connections[recipient.system] }) else {
      throw PipeError.connectionLost
    }
    let outcome = try await connection.call(
      Frame.Call(
        recipient: recipient, target: target.identifier, substitutions: invocation.substitutions,
        arguments: invocation.arguments))
    switch outcome {
    case .unknownActor: throw PipeError.unknownActor(recipient)
    case .thrown(let description): throw PipeError.thrown(description)
    case .value, .void: return outcome
    }
  }
}

extension PipeSystem {
  /// A call on its way out.
  package struct InvocationEncoder: DistributedTargetInvocationEncoder {
    package typealias SerializationRequirement = any Codable

    var substitutions: [String] = []
    var arguments: [Data] = []

    package mutating func recordArgument<Value: Codable>(
      _ argument: RemoteCallArgument<Value>
    ) throws {
      arguments.append(try JSONEncoder().encode(argument.value))
    }

    package mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
      guard let name = _mangledTypeName(type) else { throw PipeError.malformed }
      substitutions.append(name)
    }

    package mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}
    package mutating func recordReturnType<R: Codable>(_ type: R.Type) throws {}
    package mutating func doneRecording() throws {}
  }

  /// A call that has come.
  package struct InvocationDecoder: DistributedTargetInvocationDecoder {
    package typealias SerializationRequirement = any Codable

    let substitutions: [String]
    var arguments: ArraySlice<Data>

    package mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
      guard let data = arguments.popFirst() else { throw PipeError.malformed }
      return try JSONDecoder().decode(Argument.self, from: data)
    }

    package mutating func decodeGenericSubstitutions() throws -> [any Any.Type] {
      try substitutions.map { name in
        guard let type = _typeByName(name) else { throw PipeError.malformed }
        return type
      }
    }

    package mutating func decodeErrorType() throws -> (any Any.Type)? { nil }
    package mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
  }

  /// Sends what a call came to.
  package struct ResultHandler: DistributedTargetInvocationResultHandler {
    package typealias SerializationRequirement = any Codable

    let reply: @Sendable (Frame.Outcome) -> Void

    package func onReturn<Success: Codable>(value: Success) async throws {
      reply(.value(try JSONEncoder().encode(value)))
    }

    package func onReturnVoid() async throws { reply(.void) }

    package func onThrow<Err: Error>(error: Err) async throws {
      reply(.thrown(String(describing: error)))
    }
  }
}
