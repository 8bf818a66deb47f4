/// What was said in a room, as its first hearer heard it: all others have to hear the same.
///
/// It belongs to the event loop that all clients of the room are on.
final class RoomRecord {
  let name: String
  /// The messages by number, from 1: which client's, and its how manieth.
  private(set) var messages: [UInt64] = []
  /// What the senders were told: the messages by number.
  private(set) var accepted: [Int: UInt64] = [:]
  /// When the first hearer had each message.
  private var beginnings: [UInt64] = []
  private(set) var faults: [String] = []

  init(name: String) {
    self.name = name
  }

  /// Notes what somebody heard.
  ///
  /// - Returns: when the first hearer had it.
  @discardableResult
  func note(_ message: UInt64, at number: Int, by client: String, now: UInt64) -> UInt64 {
    if number == messages.count + 1 {
      messages.append(message)
      beginnings.append(now)
    } else if number < 1 || number > messages.count || messages[number - 1] != message {
      complain("\(client) heard something else as \(name) \(number) than the others")
      return now
    }
    return beginnings[number - 1]
  }

  /// Notes what a sender was told.
  func accept(_ message: UInt64, at number: Int) {
    if accepted.updateValue(message, forKey: number) != nil {
      complain("\(name) \(number) was given to two messages")
    }
  }

  func complain(_ fault: String) {
    faults.append(fault)
  }

  /// Compares what the senders were told with what was heard.
  func settle() {
    for (number, message) in accepted
    where number > messages.count || messages[number - 1] != message {
      complain("\(name) \(number) was accepted and not heard")
    }
    let own = messages.filter { $0 != Client.foreign }
    if Set(own).count != own.count { complain("something was heard twice in \(name)") }
  }
}
