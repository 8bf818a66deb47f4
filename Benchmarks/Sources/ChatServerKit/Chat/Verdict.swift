/// What a rule says of a draft.
enum Verdict: Sendable, Equatable {
  case agrees
  case objects(because: String)
}
