/// What the command line asks for.
struct Options: Sendable, Equatable {
  /// What is wrong with the command line.
  struct Malformed: Error, Equatable {
    let text: String
  }

  static let usage = """
    usage: chatroom [--limit N] [--window SECONDS] [--pace SECONDS]

    A chat room on standard input, whose rules are delegates of a DelegateHub: they are asked about
    every line "name: text", and any of them can veto it. /help says what else can be typed.

      --limit N          how many messages a sender may send within the window (default 5)
      --window SECONDS   how long that is (default 10)
      --pace SECONDS     take messages to be sent this far apart, whenever they really come
      --help             this

    Exit status: 0, or 64 for a wrong command line.

    """

  var isHelpWanted = false
  var limit = 5
  var window = Duration.seconds(10)
  var pace: Duration?

  init(parsing arguments: some Sequence<String>) throws(Malformed) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      // Both `--limit 7` and `--limit=7`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let option = argument.hasPrefix("--") ? String(parts[0]) : argument
      if ["--help", "-h"].contains(option) {
        isHelpWanted = true
        return
      }
      guard ["--limit", "--window", "--pace"].contains(option) else {
        throw Malformed(text: "unknown option \(argument.harmless.quoted)")
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw Malformed(text: "\(option) needs a value after it")
      }
      switch option {
      case "--limit":
        guard let number = Int(value), (1...1_000_000).contains(number) else {
          throw Self.malformed(option, value, "a whole number from 1 to 1000000")
        }
        limit = number
      case "--window": window = try Self.seconds(option, value)
      default: pace = try Self.seconds(option, value)
      }
    }
  }

  private static func seconds(_ option: String, _ value: String) throws(Malformed) -> Duration {
    guard let seconds = Double(value), (0.001...86_400).contains(seconds) else {
      throw malformed(option, value, "a number of seconds from 0.001 to 86400")
    }
    return .seconds(seconds)
  }

  private static func malformed(_ option: String, _ value: String, _ wanted: String) -> Malformed {
    Malformed(text: "\(option) needs \(wanted), not \(value.harmless.quoted)")
  }
}
