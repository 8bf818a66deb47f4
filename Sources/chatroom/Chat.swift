/// Talks to whoever is at standard input.
///
/// Lines are read on the main thread, which belongs to nobody else here: waiting there for somebody to
/// type takes no thread from the pool that handlers run on, and nothing is read before it is wanted.
@MainActor
struct Chat {
  private let session: Session
  private let console = Console()
  private let input = LineReader(.input)
  private let screen: Screen
  private let isInteractive = System.Stream.input.isTerminal && System.Stream.output.isTerminal

  init(options: Options, words: WordList) {
    screen = Screen(on: console)
    session = Session(options: options, words: words, screen: screen)
  }

  /// Reads to the end of input, to `/quit`, or until nobody reads the output.
  func run() async -> System.ExitStatus {
    if isInteractive { console.write("Write \"name: text\" to say something; /help for more.\n") }
    await converse()
    let summary = await session.summary().text
    if !console.write(summary) { console.writeError(summary) }
    if let failure = input.failure {
      console.writeError("chatroom: cannot read standard input: \(failure.text)\n")
      return .cannotReadOrWrite
    }
    guard let failure = console.failure, !failure.isBrokenPipe else { return .ok }
    console.writeError("chatroom: cannot write to standard output: \(failure.text)\n")
    return .cannotReadOrWrite
  }

  private func converse() async {
    while true {
      if isInteractive { console.write("> ") }
      guard let line = input.readLine() else {
        // Whoever pressed ^D is still on the line of the prompt.
        if isInteractive { console.write("\n") }
        return
      }
      let reply = await session.handle(line)
      guard console.write(reply.page.text), !reply.isLast else { return }
    }
  }
}
