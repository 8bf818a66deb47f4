import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many descriptors the process may have open.
enum DescriptorLimit {
  /// How many of them connections may use.
  ///
  /// What is left is for the event loops, which have three each, for the listening socket, for those who are told that
  /// they are too many, and for files that extensions open.
  static var connections: Int { connections(of: all) }

  /// What is wrong with the limit, if it leaves the server too few descriptors.
  ///
  /// - Parameters:
  ///   - wanted: how many connections there are to be; `nil` for as many as there may be.
  ///   - page: how many descriptors a page of the hubs may use.
  /// - Returns: the problem, and what to do about it.
  static func problem(with wanted: Int?, besides page: Int) -> String? {
    problem(with: wanted, besides: page, of: all)
  }

  static func problem(with wanted: Int?, besides page: Int = 0, of all: Int) -> String? {
    let places = connections(of: all) - page
    guard places < wanted ?? 1 else { return nil }
    let need = places < 1 ? "at least \(all - places + 1)" : "\(all - places + (wanted ?? 1))"
    return
      "The process may open \(all) files, and needs \(need) for connections and itself: "
      + "raise the limit (ulimit -n)" + (places < 1 ? "." : ", or give --connections \(places).")
  }

  /// How many there may be open.
  private static var all: Int {
    let all = Int(sysconf(Int32(_SC_OPEN_MAX)))
    return all > 0 ? all : .max
  }

  private static func connections(of all: Int) -> Int {
    all - 32 - Connections.refusals - 4 * System.coreCount
  }
}
