/// Who a subscriber is when that is not its object: the user's `id:`.
///
/// Hashing and comparing run the user's code, so neither happens under a lock: the hash is taken when
/// the identity is made, and the inbox's index goes by hash alone.
///
/// An object, so that the index can tell whether a subscription has the very identity that was compared.
final class Identity: Sendable, CustomStringConvertible {
  let hash: Int
  private let value: any Hashable & Sendable

  init(_ value: any Hashable & Sendable) {
    self.value = value
    // By the same measure as `matches`, for which 1 as an Int and 1 as an Int8 are one key.
    hash = AnyHashable(value).hashValue
  }

  var description: String { "\(value)" }

  func matches(_ other: Identity) -> Bool {
    hash == other.hash && AnyHashable(value) == AnyHashable(other.value)
  }
}
