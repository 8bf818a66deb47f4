/// Who shares what is posted.
enum Posters: Sendable {
  /// So many tasks; a single one is the task that measures.
  case tasks(Int)
  /// Threads of their own.
  case threads(Threads)

  /// The only poster, in the task that measures.
  static let one = Posters.tasks(1)

  /// How many there are.
  var count: Int {
    switch self {
    case .tasks(let count): count
    case .threads(let threads): threads.count
    }
  }

  /// Each one's part of a burst.
  ///
  /// - Parameter burst: how many notifications it has.
  /// - Returns: how many each posts.
  func share(of burst: Int) -> Int {
    precondition(burst.isMultiple(of: count), "\(count) posters cannot share a burst of \(burst)")
    return burst / count
  }

  /// Has each do something, and returns when all have.
  ///
  /// - Parameter work: what each does.
  func atOnce(_ work: @escaping @Sendable () -> Void) async {
    switch self {
    case .tasks(let count): await together(count) { _ in work() }
    case .threads(let threads): await threads.together { _ in work() }
    }
  }
}
