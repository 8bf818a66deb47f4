/// What a line of input asks for.
enum Command: Sendable, Equatable {
  case nothing
  case say(name: String, text: String)
  case last(Int)
  case stats
  case rules
  case mute(String)
  case unmute(String)
  case help
  case quit

  /// What is wrong with a line, and what to do about it.
  struct Complaint: Error, Equatable {
    let text: String
  }

  static let overview = [
    "name: text     say something, to everybody",
    "/last N        the last N messages delivered",
    "/stats         what was delivered and what was not",
    "/rules         who votes on messages right now",
    "/mute NAME     veto all that NAME says",
    "/unmute NAME   let NAME speak again",
    "/help          this",
    "/quit          leave, with a summary (so does the end of input)",
  ]

  init(parsing line: String) throws(Complaint) {
    let line = line.trimmed.harmless
    if line.isEmpty {
      self = .nothing
    } else if line.hasPrefix("/") {
      self = try Self.command(line)
    } else {
      self = try Self.message(line)
    }
  }

  private static func message(_ line: String) throws(Complaint) -> Command {
    guard let colon = line.firstIndex(of: ":") else {
      throw Complaint(
        text: "\(line.quoted) has no colon: write \"name: text\", or /help for the commands")
    }
    let name = try self.name(line[..<colon], in: "before the colon")
    let text = line[line.index(after: colon)...].trimmed
    guard !text.isEmpty else {
      throw Complaint(text: "\(name) says nothing: write a text after the colon")
    }
    return .say(name: name, text: String(text))
  }

  private static func command(_ line: String) throws(Complaint) -> Command {
    let verb = line.prefix { !$0.isWhitespace }
    let argument = line.dropFirst(verb.count).trimmed
    switch verb {
    case "/last": return .last(try number(argument, for: verb))
    case "/mute": return .mute(try name(argument, in: "after /mute"))
    case "/unmute": return .unmute(try name(argument, in: "after /unmute"))
    case "/stats": return try alone(.stats)
    case "/rules": return try alone(.rules)
    case "/help": return try alone(.help)
    case "/quit": return try alone(.quit)
    default:
      throw Complaint(text: "there is no command \(verb.quoted): /help lists those there are")
    }

    func alone(_ command: Command) throws(Complaint) -> Command {
      guard argument.isEmpty else {
        throw Complaint(text: "\(verb) stands alone: leave out \(argument.quoted)")
      }
      return command
    }
  }

  private static func name(_ name: Substring, in place: String) throws(Complaint) -> String {
    let name = name.trimmed
    if name.isEmpty { throw Complaint(text: "there is no name \(place): write one") }
    if name.contains(where: { $0.isWhitespace || $0 == ":" }) {
      throw Complaint(
        text: "\(name.quoted) \(place) is not a name: a name is one word without a colon")
    }
    return String(name)
  }

  private static func number(_ text: Substring, for verb: Substring) throws(Complaint) -> Int {
    if let number = Int(text), number > 0 { return number }
    let wrong = text.isEmpty ? "" : ", not \(text.quoted)"
    throw Complaint(text: "\(verb) needs a positive number\(wrong): try \(verb) 10")
  }
}
