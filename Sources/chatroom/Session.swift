/// A room with one input: takes line after line and gives back what is to be shown.
actor Session {
  /// What a line led to.
  struct Reply: Sendable {
    var page = Page()
    var isLast = false
  }

  private let room: Room
  private let history = History()
  private let statistics = StatisticsKeeper()

  private let opened = ContinuousClock.now
  /// How far apart messages are said to be sent; `nil` to take the clock's time.
  private let pace: Duration?
  private var said = 0
  private var lines = 0
  private var complaints = 0

  init(options: Options, screen: Screen) {
    pace = options.pace
    room = Room(
      // The limiter first: FirstVeto decides nothing before the first rule has answered, so every message is put to the
      // limiter, and counted.
      rules: [FloodLimiter(limit: options.limit, window: options.window), Moderator()],
      observers: [history, statistics, screen])
  }

  /// Does what a line says.
  func handle(_ line: String) async -> Reply {
    lines += 1
    var reply = Reply()
    do throws(Command.Complaint) {
      // Some editors begin a file with this mark.
      let isMarked = lines == 1 && line.first == "\u{FEFF}"
      let command = try Command(parsing: isMarked ? String(line.dropFirst()) : line)
      reply.isLast = command == .quit
      if case .say(let name, let text) = command {
        await room.post(Message(from: name, text, at: now()))
        said += 1
      }
      // An answer must count what was said before; the screen must have shown it before the main thread waits for the
      // next line; and an endless input must not pile up.
      await room.settle()
      await answer(command, on: &reply.page)
    } catch {
      complaints += 1
      reply.page.add(.error, "line \(lines): \(error.text)")
    }
    return reply
  }

  /// The last page, at the end of input.
  func summary() async -> Page {
    await room.settle()
    var page = Page()
    page.add(.summary, await statistics.figures.lines)
    if complaints > 0 { page.add(.summary, "\(complaints.of("line")) not understood") }
    return page
  }

  private func now() -> Duration {
    if let pace { pace * said } else { ContinuousClock.now - opened }
  }

  private func answer(_ command: Command, on page: inout Page) async {
    switch command {
    case .nothing, .say, .quit:
      break
    case .last(let count):
      let messages = await history.last(count)
      page.add(.last, messages.map(\.shown))
      if messages.count < count {
        let all = messages.count == history.capacity ? "all that is remembered" : "all there is"
        page.add(.last, messages.isEmpty ? "nothing was delivered yet" : "that is \(all)")
      }
    case .stats:
      page.add(.stats, await statistics.figures.lines)
    case .rules:
      page.add(.rules, room.rules())
    case .mute(let name):
      let isNew = await room.mute(name)
      page.add(.room, isNew ? "\(name) is muted" : "\(name) is muted already")
    case .unmute(let name):
      let wasMuted = await room.unmute(name)
      page.add(.room, wasMuted ? "\(name) may speak again" : "\(name) is not muted")
    case .help:
      page.add(.help, Command.overview)
    }
  }
}
