/// What the command line asks for.
struct Arguments {
  /// How to call the program.
  static let usage = """
    usage: compare [--quick] [--only TEXT] [--who NAME] [--noise PERCENT] [--again COUNT]
                   [--known | --no-gate] [--record FILE]
      --quick          fewer and shorter rounds: a minute in place of five
      --only TEXT      only the row of that name, or else all whose names contain the text
      --who NAME       only contestants whose names begin so, for a profiler; no ratios
      --noise PERCENT  by how much a ratio of times may miss its target; 15 if not given,
                       30 with --quick
      --again COUNT    measure a row that fails up to so many times more, until it passes
      --known          exit with 0 if what is missed is known to be, and no worse than that
      --no-gate        exit with 0 even if a target is missed by more than its noise allowance
      --record FILE    also write the whole table to the file, as JSON
    """

  /// How much is measured.
  private(set) var plan = Plan.full
  /// How the names of those begin who run alone.
  private var soloist: String?
  /// Which row is wanted, or what its name contains; all if `nil`.
  private(set) var only: String?
  /// Whether a missed target fails the program.
  private(set) var gates = true
  /// Whether one that is known to be missed does not.
  private(set) var acceptsKnown = false
  /// How many times more a row that fails the gate is measured.
  private(set) var again = 0
  /// Which file the figures are written to, if any.
  private(set) var record: String?
  /// By which part a target may be missed before the gate closes, if given.
  private var givenNoise: Double?
  /// Whether only the usage is wanted.
  private(set) var wantsHelp = false

  /// By which part a ratio of times may miss its target before the gate closes.
  ///
  /// On this kind of machine, two runs of the same build differ by a tenth, short ones by more.
  var noise: Double { givenNoise ?? (plan.skipsSlowControls ? 0.30 : 0.15) }

  /// Whether the whole table is wanted.
  var wantsAll: Bool { only == nil && soloist == nil }

  /// A command line that makes no sense, in words.
  struct Failure: Error {
    /// What is wrong with it.
    let message: String
  }

  /// Reads the command line.
  ///
  /// - Parameter words: the arguments, without the program's name.
  /// - Throws: a ``Failure`` that says which argument makes no sense.
  init(_ words: some Sequence<String>) throws(Failure) {
    var words = words.makeIterator()
    while let word = words.next() {
      switch word {
      case "--quick": plan = .quick
      case "--no-gate": gates = false
      case "--known": acceptsKnown = true
      case "--help", "-h": wantsHelp = true
      case "--who":
        guard let name = words.next() else { throw Failure(message: "--who needs a name") }
        soloist = name
      case "--only":
        guard let text = words.next() else { throw Failure(message: "--only needs a text") }
        only = text
      case "--record":
        guard let path = words.next() else { throw Failure(message: "--record needs a file") }
        record = path
      case "--again":
        guard let text = words.next(), let count = Int(text), (0...100).contains(count) else {
          throw Failure(message: "--again needs a count, such as 2")
        }
        again = count
      case "--noise":
        guard let text = words.next(), let percent = Double(text), (0...1000).contains(percent)
        else {
          throw Failure(message: "--noise needs a percentage, such as 15")
        }
        givenNoise = percent / 100
      default: throw Failure(message: "unknown argument \(word)")
      }
    }
    plan.soloist = soloist
    guard record == nil || wantsAll else {
      throw Failure(message: "--record writes the whole table, not --only or --who")
    }
  }
}
