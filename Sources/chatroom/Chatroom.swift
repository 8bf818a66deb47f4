/// The program: a chat room on standard input.
///
/// Lines are read on the main thread, which nothing else needs: waiting there for somebody to type takes no thread from
/// the pool that handlers run on, and nothing is read before it is wanted.
@main
@MainActor
enum Chatroom {
  static func main() async {
    do throws(Options.Malformed) {
      let options = try Options(parsing: CommandLine.arguments.dropFirst())
      if options.isHelpWanted {
        Terminal.write(Options.usage)
      } else {
        await converse(Session(options: options, screen: Screen()))
      }
    } catch {
      Terminal.refuse(error.text)
    }
  }

  /// Obeys lines to the end of input, or to `/quit`.
  private static func converse(_ session: Session) async {
    if Terminal.isInteractive {
      Terminal.write("Write \"name: text\" to say something; /help for more.\n")
    }
    var isOver = false
    while !isOver {
      if Terminal.isInteractive { Terminal.write("> ") }
      if let line = readLine() {
        let reply = await session.handle(line)
        Terminal.write(reply.page.text)
        isOver = reply.isLast
      } else {
        // After ^D the cursor is still on the line of the prompt.
        if Terminal.isInteractive { Terminal.write("\n") }
        isOver = true
      }
    }
    Terminal.write(await session.summary().text)
  }
}
