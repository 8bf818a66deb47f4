import Distributed
import Foundation

/// Distributed actors in several processes of one machine, called over TCP.
///
/// As with a real cluster nobody keeps a proxy alive, a call ends neither with the caller's
/// cancellation nor by a time-out, and a process that is gone fails the calls to it.
package final class LoopbackSystem: DistributedActorSystem {
  package typealias ActorID = LoopbackID
  package typealias InvocationEncoder = LoopbackInvocationEncoder
  package typealias InvocationDecoder = LoopbackInvocationDecoder
  package typealias ResultHandler = LoopbackResultHandler
  package typealias SerializationRequirement = any Codable

  /// An actor that lives here, not kept alive.
  ///
  /// `@unchecked Sendable`: written in `init`, and after that only by the runtime.
  private final class Resident: @unchecked Sendable {
    weak var actor: (any DistributedActor)?

    init(_ actor: any DistributedActor) {
      self.actor = actor
    }
  }

  private struct State: Sendable {
    var isShutDown = false
    var lastNumber: UInt64 = 0
    var residents: [LoopbackID: Resident] = [:]
    /// Connections to others, by their ports.
    var outgoing: [UInt16: Connection] = [:]
    /// Connections that others have made.
    var incoming: [Connection] = []
  }

  /// The door for others.
  private final class Entrance: Sendable {
    let socket: Socket

    init() throws {
      socket = try Socket.listening()
    }
  }

  private let state = Locked(State())
  private let node: LoopbackID.Node
  private let entrance: Entrance?

  /// Makes a system that calls others.
  package init() {
    entrance = nil
    node = LoopbackID.Node(port: 0, incarnation: .random(in: 1 ... .max))
  }

  /// Makes a system that others can call, on a free port.
  package init(listening: Void) throws {
    let entrance = try Entrance()
    self.entrance = entrance
    node = LoopbackID.Node(port: try entrance.socket.port, incarnation: .random(in: 1 ... .max))
    Thread { [weak self] in
      while let socket = try? entrance.socket.accepted() {
        guard let self else { return }
        let connection = Connection(socket) { [weak self] in self?.receive($0, over: $1) }
        let isShutDown = state.withLock { state in
          state.incoming.removeAll(where: \.isClosed)
          state.incoming.append(connection)
          return state.isShutDown
        }
        if isShutDown { connection.close() }
      }
    }.start()
  }

  /// Ends all connections, and lets nobody in any more.
  package func shutDown() {
    let connections = state.withLock { state in
      state.isShutDown = true
      defer { (state.outgoing, state.incoming) = ([:], []) }
      return state.outgoing.values + state.incoming
    }
    entrance?.socket.end()
    for connection in connections { connection.close() }
  }

  // MARK: Who lives here

  package func resolve<Act>(id: LoopbackID, as actorType: Act.Type) throws -> Act?
  where Act: DistributedActor, Act.ID == LoopbackID {
    guard id.node == node else { return nil }
    guard let actor = resident(id) as? Act else { throw LoopbackError.unknownActor(id) }
    return actor
  }

  package func assignID<Act>(_ actorType: Act.Type) -> LoopbackID
  where Act: DistributedActor, Act.ID == LoopbackID {
    state.withLock { state in
      state.lastNumber += 1
      return LoopbackID(node: node, number: state.lastNumber)
    }
  }

  package func actorReady<Act>(_ actor: Act)
  where Act: DistributedActor, Act.ID == LoopbackID {
    state.withLock { $0.residents[actor.id] = Resident(actor) }
  }

  package func resignID(_ id: LoopbackID) {
    _ = state.withLock { $0.residents.removeValue(forKey: id) }
  }

  package func makeInvocationEncoder() -> LoopbackInvocationEncoder {
    LoopbackInvocationEncoder()
  }

  private func resident(_ id: LoopbackID) -> (any DistributedActor)? {
    state.withLock { $0.residents[id] }?.actor
  }

  // MARK: Calling others

  package func remoteCall<Act, Err, Res>(
    on actor: Act, target: RemoteCallTarget, invocation: inout LoopbackInvocationEncoder,
    throwing: Err.Type, returning: Res.Type
  ) async throws -> Res
  where Act: DistributedActor, Act.ID == LoopbackID, Err: Error, Res: Codable {
    guard case .value(let data) = try await call(actor.id, target, invocation) else {
      throw LoopbackError.malformed
    }
    let decoder = JSONDecoder()
    decoder.userInfo[.actorSystemKey] = self
    return try decoder.decode(Res.self, from: data)
  }

  package func remoteCallVoid<Act, Err>(
    on actor: Act, target: RemoteCallTarget, invocation: inout LoopbackInvocationEncoder,
    throwing: Err.Type
  ) async throws where Act: DistributedActor, Act.ID == LoopbackID, Err: Error {
    guard case .void = try await call(actor.id, target, invocation) else {
      throw LoopbackError.malformed
    }
  }

  private func call(
    _ recipient: LoopbackID, _ target: RemoteCallTarget, _ invocation: LoopbackInvocationEncoder
  ) async throws -> Frame.Outcome {
    let outcome = try await connection(to: recipient.node.port).call(
      recipient, target: target.identifier, substitutions: invocation.substitutions,
      arguments: invocation.arguments)
    switch outcome {
    case .unknownActor: throw LoopbackError.unknownActor(recipient)
    case .thrown(let description): throw LoopbackError.thrown(description)
    case .value, .void: return outcome
    }
  }

  private func connection(to port: UInt16) throws -> Connection {
    try state.withLock { state in
      if state.isShutDown { throw LoopbackError.connectionLost }
      if let connection = state.outgoing[port], !connection.isClosed { return connection }
      let connection = Connection(to: port) { [weak self] in self?.receive($0, over: $1) }
      state.outgoing[port] = connection
      return connection
    }
  }

  // MARK: Being called

  private func receive(_ call: Frame.Call, over connection: Connection) {
    let reply = { @Sendable in connection.send(.reply(number: call.number, $0)) }
    guard let actor = resident(call.recipient) else { return reply(.unknownActor) }
    Task {
      var decoder = LoopbackInvocationDecoder(call, in: self)
      do {
        try await executeDistributedTarget(
          on: actor, target: RemoteCallTarget(call.target), invocationDecoder: &decoder,
          handler: LoopbackResultHandler(reply: reply))
      } catch {
        reply(.thrown(String(describing: error)))
      }
    }
  }
}
