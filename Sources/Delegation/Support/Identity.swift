/// The `id:` that a user gave for a subscriber.
///
/// Hashing and comparing run user code, so neither happens under a lock: the hash is computed when the
/// identity is made, and the inbox's index uses the hash alone.
///
/// It is an object, so that the index can tell whether a subscription has the very identity that was
/// compared.
final class Identity: Sendable, CustomStringConvertible {
  let hash: Int
  private let value: any Hashable & Sendable

  init(_ value: any Hashable & Sendable) {
    self.value = value
    // As `matches` compares: 1 as an Int and 1 as an Int8 are equal.
    hash = AnyHashable(value).hashValue
  }

  var description: String { "\(value)" }

  func matches(_ other: Identity) -> Bool {
    hash == other.hash && AnyHashable(value) == AnyHashable(other.value)
  }
}
