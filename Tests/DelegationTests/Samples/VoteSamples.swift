import Delegation
import Testing

@Suite("Samples of votes and combiners", .inTurn)
struct VoteSamples {
  // sample: A gatekeeper
  protocol Gatekeeper: AnyObject, Sendable {
    func mayEnter(_ guest: String) async throws -> Bool
    func verdict(on guest: String) async -> Verdict
  }

  enum Verdict: Sendable, Equatable {
    case agreed
    case refused(because: String)
  }
  // end of sample

  // sample: FirstRefusal
  /// The first refusal that comes, with its reason.
  struct FirstRefusal: Combiner {
    mutating func receive(_ verdict: Verdict, from position: Int) -> Verdict? {
      verdict == .agreed ? nil : verdict
    }
    mutating func finish() -> Verdict { .agreed }
  }
  // end of sample

  // sample: A share
  /// Is true if at least a share of those who answer say "yes".
  struct Share: Combiner {
    let needed: Double
    var (yes, answers) = (0, 0)

    init(_ needed: Double) { self.needed = needed }

    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      answers += 1
      if response { yes += 1 }
      return nil
    }
    mutating func finish() -> Bool {
      answers > 0 && Double(yes) >= needed * Double(answers)
    }
  }
  // end of sample

  private final class Doorman: Gatekeeper {
    let answer: @Sendable () async throws -> Bool

    init(_ answer: @escaping @Sendable () async throws -> Bool) { self.answer = answer }

    func mayEnter(_ guest: String) async throws -> Bool { try await answer() }
    func verdict(on guest: String) async -> Verdict {
      (try? await answer()) == true ? .agreed : .refused(because: "\(guest) is not on the list")
    }
  }

  private let hub = DelegateHub()

  private func staff(_ answers: [Bool]) -> [Doorman] {
    let doormen = answers.map { answer in Doorman { answer } }
    for doorman in doormen { hub.subscribe(doorman, to: Gatekeeper.self) }
    return doormen
  }

  @Test("four rules, four outcomes", arguments: [0, 1, 2, 3])
  func rules(yes: Int) async throws {
    let doormen = staff((0..<3).map { $0 < yes })
    let guest = "Alice"
    // sample: Rules
    let all = try await hub.vote(Gatekeeper.self) { try await $0.mayEnter(guest) }
    // The same, failing closed: false unless two have answered.
    let both = try await hub.vote(Gatekeeper.self, by: .unanimous(ofAtLeast: 2)) {
      try await $0.mayEnter(guest)
    }
    let any = try await hub.vote(Gatekeeper.self, by: .anyone) {
      try await $0.mayEnter(guest)
    }
    let most = try await hub.vote(Gatekeeper.self, by: .majority) {
      try await $0.mayEnter(guest)
    }
    let two = try await hub.vote(Gatekeeper.self, by: .atLeast(2)) {
      try await $0.mayEnter(guest)
    }
    // end of sample
    #expect([all, both, any, most, two] == [yes == 3, yes == 3, yes >= 1, yes >= 2, yes >= 2])
    withExtendedLifetime(doormen) {}
  }

  @Test("who refuses says why", arguments: [[true, true], [true, false], []])
  func refusal(answers: [Bool]) async {
    let doormen = staff(answers)
    let guest = "Alice"
    // sample: Who refused
    let verdict = await hub.ask(Gatekeeper.self, combining: FirstRefusal()) {
      await $0.verdict(on: guest)
    }
    // end of sample
    let expected =
      answers.contains(false) ? Verdict.refused(because: "Alice is not on the list") : .agreed
    #expect(verdict == expected)
    withExtendedLifetime(doormen) {}
  }

  private protocol Rule: AnyObject, Sendable {
    func objection(to order: String) async -> String?
  }

  private final class Taste: Rule {
    func objection(to order: String) async -> String? {
      order == "ketchup" ? "a matter of taste" : nil
    }
  }

  @Test("a veto says why", arguments: ["bread", "ketchup"])
  func veto(order: String) async {
    let (taste, log) = (Taste(), Recorder<String>())
    let print = { (text: String) in log.record(text) }
    hub.subscribe(taste, to: Rule.self)
    // sample: A veto with its reason
    let objection = await hub.ask(Rule.self, combining: .firstNonNil()) {
      await $0.objection(to: order)
    }
    if let objection { print("refused: \(objection)") }
    // end of sample
    #expect(log.history == (order == "bread" ? [] : ["refused: a matter of taste"]))
  }

  @Test("a share of those who answer", arguments: [0, 1, 2, 3])
  func share(yes: Int) async {
    let absent = Doorman { throw Refusal() }
    let doormen = staff((0..<3).map { $0 < yes })
    hub.subscribe(absent, to: Gatekeeper.self)
    let guest = "Alice"
    // sample: By a share
    let twoThirds = await hub.vote(Gatekeeper.self, by: Share(2 / 3), absent: .abstains) {
      try await $0.mayEnter(guest)
    }
    // end of sample
    #expect(twoThirds == (yes >= 2))
    withExtendedLifetime(doormen) {}
  }

  @Test("failing closed, failing open, and failing")
  func failing() async {
    let (calm, faulty) = (Doorman { true }, Doorman { throw Refusal(reason: "no list") })
    hub.subscribe(calm, to: Gatekeeper.self)
    hub.subscribe(faulty, to: Gatekeeper.self)
    let guest = "Alice"
    let log = Recorder<String>()
    let print = { (text: String) in log.record(text) }
    // sample: Failing
    // Fails closed: a voter that throws or is late says no.
    let mayPay = await hub.vote(
      Gatekeeper.self, within: .milliseconds(50), absent: .counts(as: false)
    ) { try await $0.mayEnter(guest) }

    // Fails open: a voter that throws or is late has no say.
    let mayLook = await hub.vote(Gatekeeper.self, within: .seconds(5), absent: .abstains) {
      try await $0.mayEnter(guest)
    }

    // Without `absent:` the first error is the call's own.
    do {
      _ = try await hub.vote(Gatekeeper.self) { try await $0.mayEnter(guest) }
    } catch {
      print("nobody can say: \(error)")
    }
    // end of sample
    #expect(mayPay == false)
    #expect(mayLook)
    #expect(log.history == ["nobody can say: Refusal(reason: \"no list\")"])
  }
}
