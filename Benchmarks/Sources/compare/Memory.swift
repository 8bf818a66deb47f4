import CMeasures
import Delegation
import Foundation

/// Bytes of what has so many subscribers, by the allocator's own count; on other systems than Linux there is none.
///
/// Each contestant is measured by a process of its own: what the one before it frees late would be counted against it.
enum Memory {
  static let isThere = allocated_bytes() > 0
  private static let peers: [Peer] = [.hub, .loop, .center, .stream, .queues]

  static func measure(among size: Int) -> [Peer: Double] {
    var found: [Peer: Double] = [:]
    for peer in peers {
      let text = try? Child.run(["--memory", peer.rawValue, "--among", "\(size)"])
      found[peer] = text.flatMap { Double($0.dropLast()) }
    }
    return found
  }

  /// How many bytes one of them takes, of sixteen.
  static func bytes(_ peer: Peer, among size: Int) -> Double {
    let members = (0..<size).map { _ in Member(Countdown(), isCounted: false) }
    // Each is referred to weakly from the beginning: the runtime's own record of that is nobody's.
    let boxes = members.map(Box.init)
    defer { withExtendedLifetime((members, boxes)) {} }
    func bytes<Caller>(_ make: () -> Caller, _ add: (Caller, Member) -> Void) -> Double {
      var callers: [Caller] = []
      callers.reserveCapacity(17)
      var before = 0
      // The first may set something up.
      for number in 0...16 {
        if number == 1 { before = settled() }
        let caller = make()
        for member in members { add(caller, member) }
        callers.append(caller)
      }
      defer { withExtendedLifetime(callers) {} }
      return Double(settled() - before) / 16
    }
    return switch peer {
    case .hub: bytes({ Delegates<any Delegate>() }) { $0.registry.subscribe($1) }
    case .loop: bytes({ MutexLoop() }) { $0.add($1) }
    case .center: bytes({ Center() }) { $0.add($1) }
    case .stream: bytes({ Streams() }) { $0.add($1) }
    case .queues: bytes({ QueueForEach() }) { $0.add($1) }
    case .tasks: .nan
    }
  }

  /// How many bytes are allocated, once the tasks that have been made wait.
  private static func settled() -> Int {
    Thread.sleep(forTimeInterval: 0.05)
    return Int(allocated_bytes())
  }
}

/// A process of this program.
enum Child {
  /// - Returns: what it prints.
  static func run(_ arguments: [String]) throws -> String {
    let (child, output) = (Process(), Pipe())
    let own =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
    // The program of the tests is beside it.
    child.executableURL = URL(filePath: own).deletingLastPathComponent().appending(path: "compare")
    child.arguments = arguments
    child.standardOutput = output
    try child.run()
    return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
