/// What a rule says of a draft.
enum Verdict: Sendable, Equatable {
  case agrees
  case objects(because: String)
  /// Who has to agree is not there.
  case misses(String)

  /// In place of an answer that has not come in time.
  static let late = Verdict.objects(because: "nobody could say in time, try again later")

  /// What whoever has asked is told; `nil` if nothing is in the way.
  var objection: String? {
    switch self {
    case .agrees: nil
    case .objects(let reason): reason
    case .misses(let name): "\(name) is missing, try again later"
    }
  }
}
