import Logging

@testable import ChatServerKit

/// Engines as a server makes them, with so much time that a busy machine does not run out of it.
enum Engines {
  static func make(_ kind: EngineKind, deadline: Duration = .seconds(3600)) -> any Engine {
    var configuration = ServerConfiguration()
    configuration.engine = kind
    configuration.deadline = deadline
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return ChatServer.makeEngine(configuration, faults: FaultLog(logger))
  }
}
