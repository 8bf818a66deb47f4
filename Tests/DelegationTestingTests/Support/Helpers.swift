import DelegationTesting
import Dispatch
import Foundation

/// As many seeds as the given number, multiplied with `DELEGATION_EFFORT`; see there in the hub's tests.
func seeds(_ usual: Int) -> Range<UInt64> {
  let factor = ProcessInfo.processInfo.environment["DELEGATION_EFFORT"].flatMap(Double.init) ?? 1
  return 0..<UInt64(max(1, Double(usual) * factor))
}

/// All strategies.
let strategies: [SchedulingStrategy] = [.random, .priorities, .alternating]

/// Runs a closure on a thread that is not the caller's, and none of the pool's, which tests that block
/// their threads may have in use.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  DispatchQueue(label: "another").async(execute: body)
}

/// Lets one task wait until another opens it.
///
/// Whoever waits is resumed where its task runs.
final class Gate: Sendable {
  private let opening = AsyncStream.makeStream(of: Never.self)

  func pass() async { for await _ in opening.stream {} }
  func open() { opening.continuation.finish() }
}

/// What tests throw.
struct Refusal: Error, Hashable {
  var reason = ""
}

/// Tells of its death.
final class Mortal: Sendable {
  private let onDeath: @Sendable () -> Void

  init(_ onDeath: @escaping @Sendable () -> Void) {
    self.onDeath = onDeath
  }

  deinit {
    onDeath()
  }
}

protocol Listener: AnyObject, Sendable {
  func hear(_ number: Int)
  func answer(_ number: Int) async -> Bool
}

/// A subscriber that keeps a history, and gives way before it answers.
final class Probe: Listener {
  let name: String
  let history: Recorder<String>

  init(_ name: String, in history: Recorder<String>) {
    self.name = name
    self.history = history
  }

  func hear(_ number: Int) { history.record("\(name) hears \(number)") }

  func answer(_ number: Int) async -> Bool {
    history.record("\(name) is asked \(number)")
    await Task.yield()
    history.record("\(name) answers \(number)")
    return true
  }
}
