import ArgumentParser
import ChatServerKit

@main
struct ChatServerProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ChatServer", abstract: "A chat server whose extensions are delegates.")

  @OptionGroup var options: ServerOptions

  func run() async throws {
    try await options.serve()
  }
}
