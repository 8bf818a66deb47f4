import Testing

@testable import compare

@Suite("The command line of compare")
struct ArgumentsTests {
  @Test("without arguments: the full plan, a gate, 15 % of noise")
  func none() throws {
    let arguments = try Arguments([])
    #expect(arguments.plan.rounds >= 9)
    #expect(arguments.gates && !arguments.acceptsKnown)
    #expect(arguments.noise == 0.15)
    #expect(arguments.wantsAll)
  }

  @Test("a quick run allows more noise, and has no fewer than nine rounds")
  func quick() throws {
    let arguments = try Arguments(["--quick"])
    #expect(arguments.noise == 0.30)
    #expect(arguments.plan.rounds >= 9)
    #expect(try Arguments(["--quick", "--noise", "100"]).noise == 1)
    #expect(try Arguments(["--noise", "100", "--quick"]).noise == 1)
  }

  @Test("--known lets what is known to be missed pass, and nothing else")
  func known() throws {
    let arguments = try Arguments(["--known"])
    #expect(arguments.gates && arguments.acceptsKnown)
  }

  @Test("--again says how many times more a row that fails is measured")
  func again() throws {
    #expect(try Arguments([]).again == 0)
    #expect(try Arguments(["--again", "2"]).again == 2)
  }

  @Test("--no-gate, --only and --who")
  func others() throws {
    let arguments = try Arguments(["--who", "hub", "--no-gate", "--only", "vote", "--quick"])
    #expect(!arguments.gates)
    #expect(arguments.only == "vote")
    #expect(arguments.plan.soloist == "hub")
    #expect(!arguments.wantsAll)
  }

  @Test("--record names a file, for the whole table")
  func record() throws {
    #expect(try Arguments([]).record == nil)
    #expect(try Arguments(["--quick", "--record", "figures.json"]).record == "figures.json")
  }

  @Test(
    "what makes no sense is refused",
    arguments: [
      ["--nois"], ["--noise"], ["--noise", "-1"], ["--noise", "x"], ["--again"], ["--again", "-1"],
      ["--only"], ["x"], ["--record"],
      ["--record", "f", "--only", "vote"], ["--who", "hub", "--record", "f"],
    ])
  func nonsense(words: [String]) {
    #expect(throws: Arguments.Failure.self) { try Arguments(words) }
  }
}
