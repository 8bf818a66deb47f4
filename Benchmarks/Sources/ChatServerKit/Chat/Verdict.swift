/// What a rule says of a draft.
enum Verdict: Sendable, Equatable {
  case agrees
  case objects(because: String)

  /// In place of an answer that has not come in time.
  static let late = Verdict.objects(because: "nobody could say in time, try again later")
}
