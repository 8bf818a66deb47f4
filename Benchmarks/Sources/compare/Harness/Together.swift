/// Does something in so many tasks at once, and returns when all are done.
///
/// - Parameters:
///   - count: how many; for one, no task is made.
///   - work: what each does, told which of them it is.
func together(_ count: Int, _ work: @escaping @Sendable (_ index: Int) async -> Void) async {
  guard count > 1 else { return await work(0) }
  await withTaskGroup { group in
    for index in 0..<count {
      group.addTask { await work(index) }
    }
  }
}
