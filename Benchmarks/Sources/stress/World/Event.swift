/// What is posted and voted on.
struct Event: Sendable {
  /// What handlers draw their behaviour from.
  let id: UInt64
  /// Which producer posted it; `nil` for a handler.
  let producer: Int?
  /// The producer's running number.
  let sequence: Int
  /// When it was posted.
  let postedAt: UInt64
  /// Whether every gatekeeper denies it.
  let isForbidden: Bool
}
