import Foundation
import Memory
import Synchronization

/// What the programs' subscribers are told of, and asked.
protocol Listener: AnyObject, Sendable {
  var name: Int { get }
  func take(_ number: Int)
}

/// Another protocol of the same hub.
protocol Bystander: AnyObject, Sendable {}

/// A subscriber that counts what it is told.
final class Probe: Listener, Bystander {
  let name: Int
  private let taken = Atomic<Int>(0)

  init(_ name: Int = 0) { self.name = name }

  func take(_ number: Int) { taken.add(1, ordering: .relaxed) }

  var count: Int { taken.load(ordering: .relaxed) }

  static func many(_ count: Int) -> [Probe] { (0..<count).map(Probe.init) }
}

/// Lets those who wait go on once it is open.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var isOpen: Bool { state.withLock { $0.isOpen } }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Whether the task is cancelled or not.
  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A number that many tasks and threads count up.
final class Counter: Sendable {
  private let value = Atomic<Int>(0)

  var count: Int { value.load(ordering: .acquiring) }

  @discardableResult
  func add(_ number: Int = 1) -> Int {
    value.add(number, ordering: .acquiringAndReleasing).newValue
  }
}

/// Waits for something that other tasks bring about, for a time that is enough on a busy machine.
///
/// - Returns: whether it has come about.
@discardableResult
func eventually(
  within seconds: Double = 20, _ condition: @Sendable () async -> Bool
) async -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while ContinuousClock.now < end {
    if await condition() { return true }
    await pause(milliseconds: 1)
  }
  return await condition()
}

func pause(milliseconds: Double) async {
  try? await Task.sleep(for: .milliseconds(milliseconds))
}

/// How long something takes, in milliseconds.
func milliseconds(_ body: () async -> Void) async -> Double {
  let time = await ContinuousClock().measure(body)
  return time / .milliseconds(1)
}

/// How much of a core the process has used, in milliseconds.
func processorMilliseconds() -> Double { Double(clock()) * 1000 / Double(CLOCKS_PER_SEC) }

func megabytes() -> Double { Double(allocated_bytes()) / 1_000_000 }

/// Runs a closure on that many threads at once.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { continuation in
    let running = Counter()
    for index in 0..<count {
      Thread {
        body(index)
        if running.add() == count { continuation.resume() }
      }.start()
    }
  }
}

extension Double {
  /// In few digits.
  var short: String { String(format: self < 10 ? "%.2f" : "%.0f", self) }
}

/// The one in the middle.
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
