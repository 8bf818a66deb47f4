/// The program: a chat room, or with `--simulate` many people in one.
@main
@MainActor
enum Chatroom {
  static func main() async {
    System.ignoreBrokenPipes()
    let options: Options
    do throws(Options.Malformed) {
      options = try Options(parsing: CommandLine.arguments.dropFirst())
    } catch {
      fail(.usage, "\(error.text); chatroom --help lists the options")
    }
    switch options.mode {
    case .help:
      Console().write(Options.usage)
    case .chat:
      System.exit(await Chat(options: options, words: words(for: options)).run())
    case .simulate(let messages):
      let simulation = Simulation(messages: messages, options: options, words: words(for: options))
      System.exit(await Spectator().watch(simulation))
    }
  }

  private static func words(for options: Options) -> WordList {
    guard let path = options.words else { return .builtIn }
    do {
      return try WordList(parsing: System.contents(ofFile: path))
    } catch let failure as System.Failure {
      fail(.noInput, "cannot read words from \(path.harmless): \(failure.text)")
    } catch let malformed as WordList.Malformed {
      fail(.badData, "\(path.harmless), \(malformed.text)")
    } catch {
      fail(.badData, "\(path.harmless): \(error)")
    }
  }

  private static func fail(_ status: System.ExitStatus, _ text: String) -> Never {
    Console().writeError("chatroom: \(text)\n")
    System.exit(status)
  }
}
