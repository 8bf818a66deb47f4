/// Which of the hub's calls a handler runs for.
@usableFromInline
enum CallKind: Sendable, Hashable {
  case notify
  case notifyAndWait
  case vote
  case ask
  case collect
  case askInTurn
  case pass
}
