internal import Synchronization

/// What the subscriptions of one protocol share without the inbox's lock.
final class Topic: Sendable {
  /// The protocol's type.
  private let type: Any.Type
  /// Its `ObjectIdentifier`.
  let key: ObjectIdentifier

  /// How many notifications have been posted so far, which is also the number of the next one.
  ///
  /// Grows under the inbox's lock only, after the notification was filled in; whoever reads a count
  /// may read the notifications below it.
  let published = Atomic<Int>(0)
  /// The hub's inbox.
  ///
  /// They refer to each other until the hub is released.
  let inbox: Inbox

  /// Which subscriptions follow others.
  ///
  /// Under a lock of its own, within which nothing is locked: it may be taken under any other.
  let succession = Lock(Succession())

  init(_ type: Any.Type, inbox: Inbox) {
    self.type = type
    self.inbox = inbox
    key = ObjectIdentifier(type)
  }

  /// The protocol's name.
  var name: String { String(reflecting: type) }
}
