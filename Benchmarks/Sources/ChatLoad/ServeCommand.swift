import ArgumentParser
import ChatServerKit

/// The server itself, as a process of its own beside the load.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "The server, as the other commands start it.")

  @OptionGroup var options: ServerOptions

  func run() async throws {
    try await options.serve()
  }
}
