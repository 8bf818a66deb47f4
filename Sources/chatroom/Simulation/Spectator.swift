/// Watches a simulation from the main thread: shows how far it is, and what came of it.
@MainActor
struct Spectator {
  private let console = Console()

  func watch(_ simulation: Simulation) async -> System.ExitStatus {
    let tasks = simulation.tasks.of("task")
    console.write(
      "simulating \(simulation.messages.of("message")) from \(tasks), seed \(simulation.seed)\n")
    let progress = Progress()
    let ticker = Task { await show(progress, of: simulation.messages) }
    let report = await simulation.run(progress)
    ticker.cancel()
    await ticker.value
    console.write(report.text)
    if !report.problems.isEmpty { return .wrongAccounts }
    if let failure = console.failure, !failure.isBrokenPipe { return .cannotReadOrWrite }
    return .ok
  }

  /// Shows a line that is written over again and again, which only a terminal can.
  private func show(_ progress: Progress, of total: Int) async {
    guard System.Stream.error.isTerminal else { return }
    while !Task.isCancelled {
      let count = progress.count
      console.writeError("\r\(count.grouped) messages, \(100 * count / total) %")
      try? await Task.sleep(for: .milliseconds(100))
    }
    console.writeError("\r\u{1B}[K")
  }
}
