import CCallgrind
import Delegation
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What `.ci/growth` counts the instructions of: each public operation, beside more and more of whatever
/// else a hub may have.
///
/// Valgrind runs it, and writes a count for each ``count(_:_:_:_:_:)``. By itself the program only runs
/// through.
@main
enum Growth {
  /// Synchronous: Valgrind does not survive how the main thread of an asynchronous one ends.
  static func main() {
    let selection = Selection(CommandLine.arguments.dropFirst())
    let isDone = DispatchSemaphore(value: 0)
    // On the pool's threads, as a server's code runs.
    Task.detached {
      await run(selection)
      isDone.signal()
    }
    isDone.wait()
    exit(0)
  }

  private static func run(_ selection: Selection) async {
    for circumstance in Circumstance.all where selection.includes(circumstance) {
      for expected in [Expected.level, .linear] {
        let operations = Operation.all.filter {
          circumstance.expected(of: $0) == expected && selection.includes($0, beside: circumstance)
        }
        if operations.isEmpty { continue }
        for size in circumstance.sizes(for: expected) {
          let scene = await Scene()
          let scenery = await circumstance.arrange(scene, size)
          for operation in operations {
            await measure(operation, beside: circumstance, size, expected, in: scene)
          }
          await scenery.end()
          await scene.end()
        }
      }
    }
    for row in Row.all where selection.includes(row) {
      for size in row.sizes { await row.run(size) }
    }
  }

  private static func measure(
    _ operation: Operation, beside circumstance: Circumstance, _ size: Int, _ expected: Expected,
    in scene: Scene
  ) async {
    // Often enough to be warm.
    for round in 0..<6 {
      await operation.prepare(scene)
      if round < 3 {
        await operation.run(scene)
      } else {
        await count(operation.name, circumstance.name, size, expected) {
          await operation.run(scene)
        }
      }
      await operation.restore(scene)
      await scene.settle()
    }
  }

  /// Has something counted.
  static func count(
    _ operation: String, _ dependency: String, _ size: Int, _ expected: Expected,
    _ work: nonisolated(nonsending) () async -> Void
  ) async {
    // Made before, as it takes longer than some of what is counted.
    let name = strdup("\(operation)|\(dependency)|\(expected)|\(size)")
    begin_counting()
    await work()
    end_counting(name)
    free(name)
  }
}

/// How the cost of an operation may grow with what it may depend on.
enum Expected {
  /// Not at all, or with its logarithm.
  case level
  /// In proportion.
  case linear
  /// In proportion, with what the design allows to many that wait.
  case waits
}

/// Which rows to run, by the program's arguments: texts that an operation's name and the name of what it
/// may depend on contain, and `--quick` for a part of them.
struct Selection {
  private let texts: [String]
  private let isQuick: Bool

  init(_ arguments: some Sequence<String>) {
    texts = arguments.filter { !$0.hasPrefix("--") }
    isQuick = arguments.contains("--quick")
  }

  func includes(_ circumstance: Circumstance) -> Bool {
    !isQuick || circumstance.isQuick
  }

  func includes(_ operation: Operation, beside circumstance: Circumstance) -> Bool {
    (!isQuick || operation.isQuick)
      && texts.allSatisfy { "\(operation.name)|\(circumstance.name)".contains($0) }
  }

  func includes(_ row: Row) -> Bool {
    (!isQuick || row.isQuick)
      && texts.allSatisfy { "\(row.operation)|\(row.dependency)".contains($0) }
  }
}
