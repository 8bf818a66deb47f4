import DelegationAdapters
import Logging
import Metrics
import Tracing

/// What a client may do, whatever it is connected by.
///
/// All questions go to the extensions, by way of the engine; this only puts them in their order.
final class Chat: Sendable {
  let extensions: ExtensionShelf
  let metrics: MetricsBook
  let faults: FaultLog
  /// The lines that had to wait for their clients' allowances.
  let heldLines = Metrics.Counter(label: "chat_lines_held_total")
  let turnstile = Turnstile()
  let missing = MissingGuards()
  private let roomsEach: (guests: Int, others: Int)
  private let engine: any Engine
  private let rooms: Rooms
  private let saying = Metrics.Timer(label: "chat_say")

  init(
    engine: any Engine, extensions: ExtensionShelf, metrics: MetricsBook, faults: FaultLog,
    roomLimit: Int, roomsEach: (guests: Int, others: Int)
  ) {
    self.engine = engine
    self.extensions = extensions
    self.metrics = metrics
    self.faults = faults
    self.roomsEach = roomsEach
    rooms = Rooms(engine: engine, limit: roomLimit)
  }

  /// In how many rooms a client may be at a time.
  func roomsEach(_ user: User) -> Int { user.role == .guest ? roomsEach.guests : roomsEach.others }

  func logIn(_ credentials: Credentials) async -> Recognition {
    let recognition = await engine.user(for: credentials)
    if case .undecided(let name) = recognition {
      missing.miss(name, at: .logIn)
    } else {
      missing.complete(.logIn)
    }
    return recognition
  }

  /// What a verdict has against something; if that is because somebody is missing, operators get to know.
  private func objection(of verdict: Verdict, to question: MissingGuards.Question) -> String? {
    switch verdict {
    case .agrees: missing.complete(question)
    case .objects: break
    case .misses(let name):
      missing.miss(name, at: question)
      faults.report(
        .warning, "an extension was missing",
        metadata: ["extension": "\(name)", "refused": "\(question.rawValue)"])
    }
    return verdict.objection
  }

  /// Lets a member into a room.
  func join(
    _ name: String, as user: User, with member: any RoomMember
  ) async -> Result<(room: Room, last: Int), Refusal> {
    guard turnstile.enter() else { return .failure(.closing) }
    defer { turnstile.leave() }
    if let reason = objection(of: await engine.mayJoin(name, user), to: .join) {
      return .failure(Refusal(reason))
    }
    guard let room = await rooms.enter(name, as: user.role) else {
      faults.report(
        .warning, "a room was refused", metadata: ["name": "\(user.name)", "role": "\(user.role)"])
      return .failure("too many rooms")
    }
    return .success((room, await room.admit(member, as: user)))
  }

  /// Lets a member out of a room that it has joined.
  func leave(_ room: Room, as user: User, with member: any RoomMember) async {
    await room.dismiss(member, as: user)
    await rooms.leave(room)
  }

  /// Says something in a room.
  ///
  /// - Returns: its number there.
  func say(
    _ text: String, as user: User, by connection: Int, in room: Room
  ) async -> Result<Int, Refusal> {
    guard turnstile.enter() else { return .failure(.closing) }
    defer { turnstile.leave() }
    let start = ContinuousClock.now
    defer { saying.record(duration: start.duration(to: .now)) }
    return await withSpan("say") { _ in
      let draft = Draft(room: room.name, sender: user, connection: connection, text: text)
      if let reason = objection(of: await engine.verdict(on: draft), to: .say) {
        engine.tell { try $0.didRefuse(draft, because: reason) }
        return .failure(Refusal(reason))
      }
      guard let text = await engine.rewritten(draft) else {
        return .failure("there is nothing left to say")
      }
      let number = await room.post(text, by: user)
      await room.audience.settle()
      return .success(number)
    }
  }

  func recent(_ count: Int, in room: String) async -> [Message] {
    await engine.recent(count, in: room)
  }

  /// Who is in a room.
  ///
  /// - Parameters:
  ///   - room: the room.
  ///   - user: who wants to know, and has to be one who may join it.
  ///   - isInside: whether the user has joined it, and need not be asked about.
  /// - Returns: their names.
  func people(
    in room: String, for user: User, isInside: Bool
  ) async -> Result<[String], Refusal> {
    if !isInside, let reason = objection(of: await engine.mayJoin(room, user), to: .join) {
      return .failure(Refusal(reason))
    }
    return .success(await engine.people(in: room))
  }

  func report() async -> String {
    await engine.report()
  }
}
