import Dispatch
import Synchronization

/// A room's members, each with a queue.
///
/// On a queue nobody can wait for a member that does not keep up: it loses what comes then.
final class QueueAudience: Audience {
  private struct Entry: Sendable {
    weak var member: (any RoomMember)?
    let queue: DispatchQueue
  }

  private let entries = Mutex<[Entry]>([])
  private let telling: DispatchGroup

  init(telling: DispatchGroup) {
    self.telling = telling
  }

  func add(_ member: any RoomMember) {
    let entry = Entry(member: member, queue: DispatchQueue(label: "member \(member.id)"))
    entries.withLock { $0.append(entry) }
  }

  func remove(_ member: any RoomMember) {
    entries.withLock { $0.removeAll { $0.member == nil || $0.member === member } }
  }

  func post(_ message: Message) {
    for entry in entries.withLock({ $0 }) {
      entry.queue.async(group: telling) { entry.member?.receiveNow(message) }
    }
  }
}
