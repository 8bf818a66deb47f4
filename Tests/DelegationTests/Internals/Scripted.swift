@testable import Delegation

/// Records its calls, and decides at one of them.
struct Scripted: Combiner {
  let recorder: Recorder<String>
  let decisive: Int
  private var calls = 0

  init(recorder: Recorder<String>, decisive: Int) {
    self.recorder = recorder
    self.decisive = decisive
  }

  mutating func begin(asking count: Int) -> String? { called("begin \(count)") }

  mutating func receive(_ response: String, from position: Int) -> String? {
    called("receive \(response) from \(position)")
  }

  mutating func receiveNothing(from position: Int) -> String? { called("miss \(position)") }

  mutating func finish() -> String {
    recorder.record("finish")
    return "finished"
  }

  private mutating func called(_ call: String) -> String? {
    recorder.record(call)
    defer { calls += 1 }
    return calls == decisive ? "decided at \(decisive)" : nil
  }
}
