import DelegationAdapters
import Logging
import NIOCore
import Synchronization

extension Connection {
  /// Carries out a line.
  ///
  /// - Returns: what to answer; `nil` if the client wants to go.
  func reply(to line: String) async -> String? {
    do {
      let command = try Command(line)
      switch command {
      case .logIn(let credentials): return try await logIn(credentials)
      case .help: return Command.helpLines.map { "help \($0)\n" }.joined() + "ok"
      case .ping: return "ok"
      case .quit: return nil
      default: break
      }
      guard let user else { throw Refusal("log in first") }
      if command.isForAdministrators {
        guard user.role == .administrator else { throw Refusal("you are no administrator") }
        return try await administer(command)
      }
      return try await use(command, as: user)
    } catch let refusal as Refusal {
      return "no \(refusal.reason)"
    } catch {
      return "no \(error)"
    }
  }

  private func logIn(_ credentials: Credentials) async throws -> String? {
    guard takeLogIn() else { return nil }
    guard rooms.isEmpty else { throw Refusal("leave your rooms first") }
    let recognition = await chat.logIn(credentials)
    switch recognition {
    case .known(let user): self.user = user
    case .refused, .unknown:
      // What is no account's name may be a password that was typed in the wrong place.
      report(
        .warning, "a log-in was refused",
        recognition == .refused
          ? ["name": "\(credentials.name)"] : ["why": "nobody is called so"])
      // Who guesses passwords has to wait for each.
      await pause(for: limits.refusalTime)
      throw Refusal("nobody knows you")
    case .undecided(let missing):
      report(.warning, "a log-in was not decided", ["extension": "\(missing)"])
      await pause(for: limits.refusalTime)
      throw Refusal("nobody can say who you are at the moment, try again later")
    }
    guard let user else { return nil }
    label.withLock { $0 = "\(user.name) from \(address), connection \(id)" }
    noteLogIn()
    return "ok you are \(user.name), \(user.role)"
  }

  private func use(_ command: Command, as user: User) async throws -> String {
    switch command {
    case .join(let name):
      guard rooms[name] == nil else { throw Refusal("you are in \(name)") }
      guard rooms.count < chat.roomsEach(user) else { throw Refusal("you are in too many rooms") }
      return "ok \(try await join(name, as: user))"
    case .leave(let name):
      guard let room = rooms.removeValue(forKey: name) else {
        throw Refusal("you are not in \(name)")
      }
      dues.withLock { $0.forget(room.id) }
      await chat.leave(room, as: user, with: self)
      return "ok"
    case .say(let name, let text):
      guard let room = rooms[name] else { throw Refusal("you are not in \(name)") }
      return "ok \(try await chat.say(text, as: user, by: id, in: room).get())"
    case .history(let name, let count):
      guard rooms[name] != nil else { throw Refusal("you are not in \(name)") }
      // One by one, so that not all of them are kept for a client that does not read.
      for message in await chat.recent(count, in: name) {
        try await send("was \(message.number) \(message.sender) \(message.text)")
      }
      return "ok"
    case .who(let name):
      let people = try await chat.people(in: name, for: user, isInside: rooms[name] != nil).get()
      return "ok \(people.joined(separator: " "))"
    default:
      throw Refusal("that is not for you")
    }
  }

  /// Joins a room; the number of its last message.
  private func join(_ name: String, as user: User) async throws -> Int {
    // Messages may come before the answer to who has joined.
    let (room, last) = try await chat.join(name, as: user, with: self).get()
    rooms[name] = room
    return last
  }

  func leaveAll() async {
    dues.withLock { $0.forgetAll() }
    guard let user else { return }
    for room in rooms.values { await chat.leave(room, as: user, with: self) }
    rooms = [:]
  }

  private var origin: Logger.Metadata {
    ["by": "\(user?.name ?? "nobody")", "id": "\(id)", "address": "\(address)"]
  }

  private func administer(_ command: Command) async throws -> String {
    switch command {
    case .statistics:
      return await chat.report().split(separator: "\n").map { "stats \($0)\n" }.joined() + "ok"
    case .metrics:
      return chat.metrics.lines.map { "metric \($0)\n" }.joined() + "ok"
    case .extensions:
      let list = await chat.extensions.list
      return list.map { "extension \($0.name)\($0.state)\n" }.joined() + "ok"
    case .load(let name):
      try await chat.extensions.load(name, by: origin)
      chat.missing.find(name)
    case .unload(let name): try await chat.extensions.unload(name, by: origin)
    case .reload(let name):
      try await chat.extensions.reload(name, by: origin)
      chat.missing.find(name)
    default:
      throw Refusal("there is no such command")
    }
    return "ok"
  }
}
