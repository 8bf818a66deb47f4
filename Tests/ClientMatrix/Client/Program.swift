@main
struct Program {
  @MainActor
  static func main() async {
    Place.begin()
    // The caller's place must make no difference: the main actor, and none.
    for caller: (any Actor)? in [MainActor.shared, nil] {
      await telling(from: caller)
      await asking(from: caller)
      await subscribing(from: caller)
      await viewing(from: caller)
      await counting(from: caller)
      await delegating(from: caller)
      await unannotated(from: caller)
    }
    await distributing()
    await testing()
    await forms()
    await samples()
    let mode = #fileID.prefix { $0 != "/" }
    let failures = Checks.messages
    // What was printed would be lost with the program.
    if !failures.isEmpty { fatalError("\(mode):\n\(failures.joined(separator: "\n"))") }
    print("\(mode): \(Checks.count) checks passed")
  }
}
