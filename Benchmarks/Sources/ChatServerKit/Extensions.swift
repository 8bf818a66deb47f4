/// Lets in those with a proper name.
final class Doorkeeper: ChatExtension, JoinGate {
  func mayJoin(_ room: String, as name: String) -> Bool { name.lowercased() != "mallory" }
}

/// Objects to unwelcome words.
final class Moderator: ChatExtension, SpeechGate {
  private static let words: Set = ["spam", "scam", "casino", "lottery"]

  func maySay(_ message: Message) -> Bool {
    !message.text.lowercased().split { !$0.isLetter }.contains { Self.words.contains(String($0)) }
  }
}

/// Objects to more than a number of messages in ten seconds; that somebody has joined is one, too.
actor FloodLimit: ChatExtension, JoinGate, SpeechGate {
  private let limit: Int
  private let clock = ContinuousClock()
  private var window: ContinuousClock.Instant
  private var counts: [String: Int] = [:]

  init(_ limit: Int) {
    self.limit = limit
    window = clock.now + .seconds(10)
  }

  func mayJoin(_ room: String, as name: String) -> Bool { mayBeHeard(name) }
  func maySay(_ message: Message) -> Bool { mayBeHeard(message.name) }

  private func mayBeHeard(_ name: String) -> Bool {
    if clock.now >= window {
      // Those of all members go, so passers-by do not pile up.
      counts = [:]
      window = clock.now + .seconds(10)
    }
    counts[name, default: 0] += 1
    return counts[name, default: 0] <= limit
  }
}

/// Never answers, and heeds no cancellation: to see how the server goes on.
final class Hanging: ChatExtension, SpeechGate {
  private let gate = Gate()

  func maySay(_ message: Message) async -> Bool {
    await gate.pass()
    return true
  }

  func wasUnloaded() { gate.open() }
}

/// Lets everybody pass once it is open.
package final class Gate: Sendable {
  private let (stream, continuation) = AsyncStream<Void>.makeStream()

  package init() {}

  package func open() { continuation.finish() }

  package func pass() async {
    // In a task of its own, so that a cancelled caller waits as well.
    await Task { for await _ in stream {} }.value
  }
}
