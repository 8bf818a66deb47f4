import ChatLoadKit

extension Double {
  /// With three digits, more or less.
  var shown: String {
    let digits = self < 10 ? 100.0 : self < 100 ? 10 : 1
    let rounded = (self * digits).rounded() / digits
    return digits == 1 ? "\(Int(rounded))" : "\(rounded)"
  }
}

extension Int {
  /// With a comma after each three digits.
  var formatted: String {
    var digits = String(self)
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
      place -= 3
    }
    return digits
  }
}

extension LoadResult {
  /// In words, a line each.
  var description: String {
    var lines = [
      "said        \(sent.formatted): \(accepted.formatted) accepted, "
        + "\(refusedRightly.formatted) refused as they should be, "
        + "\(refused.values.reduce(0, +).formatted) for other reasons",
      "heard       \(heard.formatted), \(Int(throughput).formatted) a second",
      "latency     \(percentiles(latency))",
      "            of it behind the first hearer: \(percentiles(lag))",
    ]
    if let least = shares.min(), let most = shares.max() {
      lines.append(
        "senders     \(shares.count.formatted), who said from \(least.formatted) "
          + "to \(most.formatted) messages each")
    }
    if let misbehaviour { lines.append("others      \(misbehaviour)") }
    for (reason, count) in refused.sorted(by: { $0.key < $1.key }) {
      lines.append("refused     \(count.formatted): \(reason)")
    }
    if faults.isEmpty {
      lines.append("checked     everybody heard what was accepted, once and in one order: ok")
    } else {
      for fault in faults.prefix(10) { lines.append("fault       \(fault)") }
      lines.append("checked     \(faults.count.formatted) faults")
    }
    return lines.joined(separator: "\n")
  }

  private func percentiles(_ value: (Double) -> Double) -> String {
    [("p50", 50), ("p99", 99), ("p99.9", 99.9), ("p100", 100)].map { name, percentile in
      "\(name) \(value(percentile).shown) ms"
    }.joined(separator: ", ")
  }
}
