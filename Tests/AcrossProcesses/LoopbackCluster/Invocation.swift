import Distributed
import Foundation

/// A call on its way out.
package struct LoopbackInvocationEncoder: DistributedTargetInvocationEncoder {
  package typealias SerializationRequirement = any Codable

  var substitutions: [String] = []
  var arguments: [Data] = []

  package mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
    guard let name = _mangledTypeName(type) else { throw LoopbackError.malformed }
    substitutions.append(name)
  }

  package mutating func recordArgument<Value: Codable>(
    _ argument: RemoteCallArgument<Value>
  ) throws {
    arguments.append(try JSONEncoder().encode(argument.value))
  }

  package mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}

  package mutating func recordReturnType<R: Codable>(_ type: R.Type) throws {}

  package mutating func doneRecording() throws {}
}

/// A call that has come.
package struct LoopbackInvocationDecoder: DistributedTargetInvocationDecoder {
  package typealias SerializationRequirement = any Codable

  private let substitutions: [String]
  private var arguments: ArraySlice<Data>
  private let decoder = JSONDecoder()

  init(_ call: Frame.Call, in system: LoopbackSystem) {
    substitutions = call.substitutions
    arguments = call.arguments[...]
    decoder.userInfo[.actorSystemKey] = system
  }

  package mutating func decodeGenericSubstitutions() throws -> [any Any.Type] {
    try substitutions.map { name in
      guard let type = _typeByName(name) else { throw LoopbackError.malformed }
      return type
    }
  }

  package mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
    guard let data = arguments.popFirst() else { throw LoopbackError.malformed }
    return try decoder.decode(Argument.self, from: data)
  }

  package mutating func decodeErrorType() throws -> (any Any.Type)? { nil }

  package mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}

/// Sends what a call came to.
package struct LoopbackResultHandler: DistributedTargetInvocationResultHandler {
  package typealias SerializationRequirement = any Codable

  let reply: @Sendable (Frame.Outcome) -> Void

  package func onReturn<Success: Codable>(value: Success) async throws {
    reply(.value(try JSONEncoder().encode(value)))
  }

  package func onReturnVoid() async throws {
    reply(.void)
  }

  package func onThrow<Err: Error>(error: Err) async throws {
    reply(.thrown(String(describing: error)))
  }
}
