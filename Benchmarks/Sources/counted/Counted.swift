import CMeasures
import Dispatch

/// What `.ci/calls` and, with the argument `growth`, `.ci/growth` have Valgrind count.
@main
enum Counted {
  /// Synchronous: Valgrind does not survive how the main thread of an asynchronous one ends.
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    let isDone = DispatchSemaphore(value: 0)
    // On the pool's threads, as a server's code runs.
    Task.detached {
      if arguments.first == "growth" {
        await Growth.run(Array(arguments.dropFirst()))
      } else {
        await Calls.run()
      }
      isDone.signal()
    }
    isDone.wait()
  }

  /// Has Valgrind write a count of its own for a call.
  static func count(_ name: String, _ work: () async -> Void) async {
    // Made before, as it takes longer than some of what is counted.
    let name = Array(name.utf8CString)
    begin_counting()
    await work()
    end_counting(name)
  }
}
