import Foundation
import PipeCluster

/// A process with gatekeepers for the one that has started it, as many as its argument says.
///
/// It lives until its standard input ends, so that it cannot outlive its starter.
@main
enum Peer {
  static func main() {
    let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1
    let system = PipeSystem()
    let doormen = (0..<count).map { _ in Doorman(actorSystem: system) }
    let end = DispatchSemaphore(value: 0)
    system.serve(
      reading: .standardInput, writing: .standardOutput, residents: doormen.map(\.id),
      onEnd: { end.signal() })
    end.wait()
    withExtendedLifetime(doormen) {}
  }
}
