/// A line that a client may write.
enum Command: Sendable, Equatable {
  case logIn(Credentials)
  case join(room: String)
  case leave(room: String)
  case say(room: String, text: String)
  case history(room: String, count: Int)
  case who(room: String)
  case ping
  case help
  case quit
  case statistics
  case metrics
  case extensions
  case load(String)
  case unload(String)
  case reload(String)

  /// Reads a line.
  ///
  /// - Throws: a refusal that says what is wrong.
  init(_ line: String) throws {
    // Names as they were written: one with something in it that nobody sees is another one.
    let names = line.split(
      maxSplits: 2, omittingEmptySubsequences: false, whereSeparator: { " \t".contains($0) })
    // Whatever is said in it, others may get to see it.
    let line = line.harmless
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    let verb = words[0]
    func word(_ index: Int, _ what: String) throws -> String {
      guard index < words.count, !words[index].isEmpty else {
        throw Refusal("\(verb) needs \(what): help lists the commands")
      }
      return String(words[index])
    }
    func room() throws -> String {
      _ = try word(1, "a room")
      return try Names.room(String(names[1]))
    }
    switch verb {
    case "login":
      _ = try word(1, "a name")
      self = .logIn(
        Credentials(
          name: try Names.user(String(names[1])),
          password: words.count > 2 ? String(words[2]) : nil))
    case "join": self = .join(room: try room())
    case "leave": self = .leave(room: try room())
    case "say": self = .say(room: try room(), text: try word(2, "a text"))
    case "history":
      guard words.count < 3 || Int(words[2]) ?? 0 > 0 else { throw Refusal("history of how many?") }
      self = .history(
        room: try room(), count: words.count > 2 ? Int(words[2]) ?? 10 : 10)
    case "who": self = .who(room: try room())
    case "ping": self = .ping
    case "help": self = .help
    case "quit": self = .quit
    case "stats": self = .statistics
    case "metrics": self = .metrics
    case "extensions": self = .extensions
    case "load": self = .load(try word(1, "an extension"))
    case "unload": self = .unload(try word(1, "an extension"))
    case "reload": self = .reload(try word(1, "an extension"))
    default: throw Refusal("there is no command \"\(verb)\": help lists those there are")
    }
  }

  static let helpLines = [
    "login NAME [PASSWORD]", "join ROOM", "leave ROOM", "say ROOM TEXT", "history ROOM [COUNT]",
    "who ROOM", "ping", "quit",
    "for administrators: stats, metrics, extensions, load, unload or reload NAME",
  ]

  var isForAdministrators: Bool {
    switch self {
    case .statistics, .metrics, .extensions, .load, .unload, .reload: true
    default: false
    }
  }
}
