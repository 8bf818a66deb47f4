import Delegation
import DelegationAdapters
import DelegationPage
import Logging
import Synchronization

/// The chat: who is in which room, and what the extensions say to it.
///
/// It knows of no network. There is one hub for the extensions, and one for each room.
package final class Chat: Sendable {
  /// What an attempt came to.
  package enum Answer: Sendable, Equatable {
    /// It is done.
    case done
    /// It is not, for this reason.
    case refused(String)
  }

  private struct Room {
    let members: Delegates<any RoomMember>
    /// How many are in it or about to be; it goes with the last one.
    var count = 0
  }

  private struct State {
    var rooms: [String: Room] = [:]
    var isStopping = false
  }

  /// The hub of the extensions.
  package let hub: DelegateHub
  /// What all hubs report to.
  package let page = HubPage()
  let logger: Logger
  let limits: ChatLimits
  private let isAudited: Bool
  private let roomConfiguration: DelegateHub.Configuration
  private let roster = Roster()
  private let state = Mutex(State())

  /// Makes a chat without rooms and extensions: until gates are loaded, nobody may join, and nothing may be said.
  ///
  /// If it is audited, only what an ``AuditLog`` has written is told.
  package init(_ limits: ChatLimits = ChatLimits(), isAudited: Bool = false, logger: Logger) {
    self.limits = limits
    self.isAudited = isAudited
    self.logger = logger
    // sample: ChatHubs
    let configuration = DelegateHub.Configuration(
      onIncident: { [page] incident in
        page.note(incident)
        logger.report(incident)
      },
      slowAfter: .seconds(1))
    hub = DelegateHub(configuration)
    var rooms = configuration
    rooms.interceptors = [
      DeadlineInterceptor(after: limits.hearing, logger: logger) { [page, roster] call in
        page.note(givenUp: call)
        // The id is the member's name.
        roster.member(named: call.id as? String)?.giveUp()
      },
      LossNotice(roster: roster),
    ]
    // end of sample
    roomConfiguration = rooms
  }

  /// The hubs that there are, with names for the page.
  package var hubs: [(name: String, hub: DelegateHub)] {
    let rooms = state.withLock { $0.rooms }
    return [("extensions", hub)]
      + rooms.sorted { $0.key < $1.key }.map { ("room \($0.key)", $0.value.members.hub) }
  }

  /// What has to be there, or everything is refused.
  package var needs: [HubPage.Need] {
    [.init(hub[JoinGate.self]), .init(hub[SpeechGate.self])]
      + (isAudited ? [.init(hub[AuditLog.self])] : [])
  }

  /// Refuses from now on what would be told to anybody.
  package func stop() { state.withLock { $0.isStopping = true } }

  // MARK: Members

  /// Gives somebody a name, unless another one has it.
  package func enter(as name: String, _ member: any RoomMember) -> Answer {
    roster.add(member, named: name) ? .done : .refused("there is somebody of that name")
  }

  /// Says why a call has refused somebody, if the server stops or a gate is late: a vote says no then, too.
  private func explained(_ refusal: String, _ call: () async -> Answer) async -> Answer {
    let start = ContinuousClock.now
    let answer = await call()
    if answer == .done { return answer }
    if state.withLock(\.isStopping) { return .refused("the server is stopping") }
    let isLate = answer == .refused(refusal) && ContinuousClock.now - start >= limits.vote
    return isLate ? .refused("\(refusal): a gate has not answered in time") : answer
  }

  /// Lets somebody join a room, if all gates agree.
  package func join(_ name: String, as member: String) async -> Answer {
    await explained("you may not join \(name)") {
      await hub.delayingDrain {
        if roster.isIn(name, member) { return .refused("you are in \(name)") }
        guard roster.rooms(of: member) < limits.roomsEach else {
          return .refused("you are in too many rooms")
        }
        let mayJoin = await hub[JoinGate.self].vote(
          by: .unanimous(ofAtLeast: 1), within: limits.vote, absent: .counts(as: false)
        ) { try await $0.mayJoin(name, as: member) }
        guard mayJoin else { return .refused("you may not join \(name)") }
        guard let listener = roster.member(named: member) else {
          return .refused("say who you are")
        }
        let members: Delegates<any RoomMember>? = state.withLock { state in
          guard !state.isStopping else { return nil }
          if state.rooms[name] == nil {
            guard state.rooms.count < limits.rooms else { return nil }
            state.rooms[name] = Room(members: Delegates(of: DelegateHub(roomConfiguration)))
          }
          state.rooms[name]?.count += 1
          return state.rooms[name]?.members
        }
        guard let members else { return .refused("there is no place for another room") }
        let subscription = members.registry.subscribe(
          listener, id: member, hold: .strongly, mailbox: .dropOldest(limit: limits.mailbox),
          on: listener.executor)
        roster.note(subscription, of: member, in: name)
        await tell("* \(member) has joined \(name)", to: members)
        return .done
      }
    }
  }

  /// Lets somebody leave a room, once what was told before has been heard.
  package func leave(_ name: String, as member: String) async -> Answer {
    guard let subscription = roster.leave(name, member) else {
      return .refused("you are not in \(name)")
    }
    subscription.finish()
    await left(name, member)
    return .done
  }

  /// Takes somebody away who has gone: what waits for that member is of no use.
  package func exit(as member: String) async {
    for (name, subscription) in roster.remove(member) {
      subscription.cancel()
      await left(name, member)
    }
  }

  private func left(_ name: String, _ member: String) async {
    let members = state.withLock { state -> Delegates<any RoomMember>? in
      guard let room = state.rooms[name] else { return nil }
      if room.count == 1 { state.rooms[name] = nil } else { state.rooms[name]?.count -= 1 }
      return state.isStopping ? nil : room.members
    }
    if let members { await tell("* \(member) has left \(name)", to: members) }
  }

  /// Tells a room what has happened.
  ///
  /// The audit may be a hundred such lines behind: what it fails to write is an incident.
  private func tell(_ line: String, to members: Delegates<any RoomMember>) async {
    if isAudited {
      await hub[AuditLog.self].notifyAndWait(leaving: 100, within: limits.audit) {
        try await $0.write(line)
      }
    }
    members.notify { try await $0.hear(line) }
  }

  // MARK: Talking

  /// Says something to all who are in a room, if all gates agree and the audit has written it.
  package func say(_ text: String, in name: String, as member: String) async -> Answer {
    await explained("that was not let through") {
      // sample: ChatSay
      await hub.delayingDrain {
        guard let members = members(of: name), roster.isIn(name, member) else {
          return .refused("you are not in \(name)")
        }
        let message = Message(room: name, name: member, text: text)
        let maySay = await hub[SpeechGate.self].vote(
          by: .unanimous(ofAtLeast: 1), within: limits.vote, absent: .counts(as: false)
        ) { try await $0.maySay(message) }
        guard maySay else { return .refused("that was not let through") }
        if isAudited {
          let outcome = await hub[AuditLog.self].notifyAndWait(within: limits.audit) {
            try await $0.write(message.line)
          }
          guard outcome.isHandled else {
            // At the deadline it may still be written.
            let isOver = outcome.left.isEmpty
            return .refused(isOver ? "it could not be written down" : "it is not written down yet")
          }
        }
        members.notify { try await $0.hear(message.line) }
        return .done
      }
      // end of sample
    }
  }

  private func members(of name: String) -> Delegates<any RoomMember>? {
    state.withLock { $0.isStopping ? nil : $0.rooms[name]?.members }
  }
}
