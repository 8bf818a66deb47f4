import ArgumentParser
import ChatServerKit

@main
struct ChatLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ChatLoad",
    abstract: "Clients that talk to a chat server, check what they hear and how long it takes.",
    subcommands: [RunCommand.self, CompareCommand.self, ServeCommand.self],
    defaultSubcommand: RunCommand.self)
}
