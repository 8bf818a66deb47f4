/// The accounts as a server prints them.
struct Balance: Equatable {
  private var counts: [String: Int] = [:]
  let isCalledBalanced: Bool

  /// Reads `accounts posted 3, addressed 6, …: balanced`.
  init?(_ output: String) {
    guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("accounts posted") })
    else { return nil }
    isCalledBalanced = line.hasSuffix(": balanced")
    let list = line.dropFirst("accounts ".count).prefix { $0 != ":" }
    for entry in list.split(separator: ",") {
      let words = entry.split(separator: " ")
      guard words.count == 2, let count = Int(words[1]) else { return nil }
      counts[String(words[0])] = count
    }
  }

  subscript(_ name: String) -> Int { counts[name] ?? -1 }

  /// What became of notifications, all added up.
  var accountedFor: Int {
    ["handled", "failed", "expired", "dropped", "cancelled", "waiting"].reduce(0) { $0 + self[$1] }
  }
}
