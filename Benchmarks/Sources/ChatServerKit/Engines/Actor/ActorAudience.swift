/// A room's members in an actor's array.
///
/// A message is given to all of them at once, and the next one when all have taken it: that is the order,
/// and it means that a member who does not read stops the room.
final class ActorAudience: Audience {
  private enum Command: Sendable {
    case add(any RoomMember)
    case remove(any RoomMember)
    case post(Message)
    case pass(CheckedContinuation<Void, Never>)
  }

  private actor Members {
    private struct Entry {
      weak var member: (any RoomMember)?
    }

    private var entries: [Entry] = []

    func add(_ member: any RoomMember) {
      entries.append(Entry(member: member))
    }

    func remove(_ member: any RoomMember) {
      entries.removeAll { $0.member == nil || $0.member === member }
    }

    func post(_ message: Message) async {
      let present = entries.compactMap(\.member)
      await withDiscardingTaskGroup { group in
        for member in present {
          group.addTask(executorPreference: member.executor) { try? await member.receive(message) }
        }
      }
    }
  }

  private let commands: AsyncStream<Command>.Continuation
  private let audiences: ActorAudienceList

  init(of audiences: ActorAudienceList) {
    self.audiences = audiences
    let (stream, commands) = AsyncStream<Command>.makeStream()
    self.commands = commands
    let members = Members()
    Task {
      for await command in stream {
        switch command {
        case .add(let member): await members.add(member)
        case .remove(let member): await members.remove(member)
        case .post(let message): await members.post(message)
        case .pass(let continuation): continuation.resume()
        }
      }
    }
  }

  func add(_ member: any RoomMember) {
    commands.yield(.add(member))
  }

  func remove(_ member: any RoomMember) {
    commands.yield(.remove(member))
  }

  func post(_ message: Message) {
    commands.yield(.post(message))
  }

  /// Waits until all members have taken what was posted before.
  func drain() async {
    await withCheckedContinuation { continuation in
      // Of one that is closed nobody is left to be told.
      if case .terminated = commands.yield(.pass(continuation)) { continuation.resume() }
    }
  }

  func close() {
    commands.finish()
    audiences.remove(self)
  }
}
