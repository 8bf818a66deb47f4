import CCallgrind
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What `.ci/calls` and `.ci/growth` count the instructions of.
///
/// `.ci/calls` stops this program at the signals that it sends to itself, and goes on step by step in between. With the
/// argument `growth` it is what `.ci/growth` has Valgrind count. By itself the program only runs through.
@main
enum Counted {
  /// Synchronous: Valgrind does not survive how the main thread of an asynchronous one ends.
  static func main() {
    // Ignored, and yet seen by one who traces the program.
    signal(SIGUSR1, SIG_IGN)
    signal(SIGUSR2, SIG_IGN)
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
    exit(0)
  }

  /// Marks a call to be counted from its first to its last instruction.
  static func step(_ name: String, units: Int, _ work: () async -> Void) async {
    let malloc = Int(bitPattern: dlsym(nil, "malloc"))
    let taskSwitch = Int(bitPattern: dlsym(nil, "swift_task_switch"))
    print("\(name)|\(units)|\(malloc)|\(taskSwitch)")
    fflush(nil)
    // The pool's threads block all signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGUSR1)
    sigaddset(&signals, SIGUSR2)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGUSR1)
    await work()
    raise(SIGUSR2)
  }

  /// Has Valgrind write a count of its own for a call.
  static func valgrind(_ name: String, _ work: () async -> Void) async {
    // Made before, as it takes longer than some of what is counted.
    let name = strdup(name)
    begin_counting()
    await work()
    end_counting(name)
    free(name)
  }
}
