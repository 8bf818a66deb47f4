/// What the command line asks for.
struct Options: Sendable, Equatable {
  enum Mode: Sendable, Equatable {
    case chat
    case simulate(messages: Int)
    case help
  }

  /// What is wrong with the command line.
  struct Malformed: Error, Equatable {
    let text: String
  }

  var mode = Mode.chat
  var words: String?
  var limit = 5
  var window = Duration.seconds(10)
  var pace: Duration?
  var tasks = 100
  var seed: UInt64 = 1

  init(parsing arguments: some Sequence<String>) throws(Malformed) {
    var given: [String] = []
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      // Both `--seed 7` and `--seed=7`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let option = argument.hasPrefix("--") ? String(parts[0]) : argument
      if option == "--help" || option == "-h" {
        mode = .help
        return
      }
      guard Self.all.contains(option) else {
        throw Malformed(text: "unknown option \(argument.harmless.quoted)")
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw Malformed(text: "\(option) needs a value after it")
      }
      try set(option, to: value)
      given.append(option)
    }
    if mode == .chat, let option = given.first(where: ["--tasks", "--seed"].contains) {
      throw Malformed(text: "\(option) goes only with --simulate")
    } else if mode != .chat, given.contains("--pace") {
      throw Malformed(text: "--pace does not go with --simulate, which has its own time")
    }
  }

  private static let all: Set = [
    "--words", "--limit", "--window", "--pace", "--simulate", "--tasks", "--seed",
  ]

  private mutating func set(_ option: String, to value: String) throws(Malformed) {
    switch option {
    case "--words": words = value
    case "--limit": limit = try number(1...1_000_000)
    case "--window": window = try seconds()
    case "--pace": pace = try seconds()
    case "--simulate": mode = .simulate(messages: try number(1...1_000_000_000))
    case "--tasks": tasks = try number(1...10_000)
    default: seed = try number(0...UInt64.max)
    }

    func number<N: FixedWidthInteger>(_ range: ClosedRange<N>) throws(Malformed) -> N {
      if let number = N(value), range.contains(number) { return number }
      throw malformed("a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    func seconds() throws(Malformed) -> Duration {
      if let seconds = Double(value), seconds >= 0.001, seconds <= 86_400 {
        return .seconds(seconds)
      }
      throw malformed("a number of seconds from 0.001 to 86400")
    }

    func malformed(_ wanted: String) -> Malformed {
      Malformed(text: "\(option) needs \(wanted), not \(value.harmless.quoted)")
    }
  }
}
