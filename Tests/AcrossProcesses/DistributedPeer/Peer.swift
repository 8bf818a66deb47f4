import Foundation
import LoopbackCluster

/// A process with gatekeepers for others to call.
///
/// It writes the ids of as many as its argument says, a line each, and lives until its standard input
/// ends, so that it cannot outlive whoever started it.
@main
enum Peer {
  static func main() throws {
    let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1
    let system = try LoopbackSystem(listening: ())
    let doormen = (0..<count).map { _ in Doorman(actorSystem: system) }
    for doorman in doormen {
      FileHandle.standardOutput.write(try JSONEncoder().encode(doorman.id) + [0x0A])
    }
    _ = try FileHandle.standardInput.readToEnd()
    withExtendedLifetime(doormen) {}
  }
}
