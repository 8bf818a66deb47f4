import CoreMetrics
import Synchronization

/// One metric of a book.
final class MetricsEntry: Sendable {
  private enum Value {
    case none
    case total(Int64)
    case last(Double)
    /// In nanoseconds.
    case times(count: Int, sum: Double, longest: Int64)
  }

  private let value = Mutex(Value.none)

  /// What it has come to, each value with what its name ends with.
  var values: [(suffix: String, text: String)] {
    switch value.withLock({ $0 }) {
    case .none: [("", "0")]
    case .total(let total): [("", "\(total)")]
    case .last(let value): [("", "\(value)")]
    case .times(let count, let sum, let longest):
      [
        ("_count", "\(count)"), ("_sum", "\(sum / 1e9)"), ("_longest", "\(Double(longest) / 1e9)"),
      ]
    }
  }
}

extension MetricsEntry: CounterHandler {
  func increment(by amount: Int64) {
    value.withLock { value in
      if case .total(let total) = value {
        let (sum, isTooMuch) = total.addingReportingOverflow(amount)
        value = .total(isTooMuch ? .max : sum)
      } else {
        value = .total(amount)
      }
    }
  }

  func reset() {
    value.withLock { $0 = .none }
  }
}

extension MetricsEntry: MeterHandler, RecorderHandler {
  func set(_ new: Int64) { set(Double(new)) }
  func set(_ new: Double) { value.withLock { $0 = .last(new) } }
  func increment(by amount: Double) { add(amount) }
  func decrement(by amount: Double) { add(-amount) }
  func record(_ new: Int64) { set(Double(new)) }
  func record(_ new: Double) { set(new) }

  private func add(_ amount: Double) {
    value.withLock { value in
      if case .last(let last) = value {
        value = .last(last + amount)
      } else {
        value = .last(amount)
      }
    }
  }
}

extension MetricsEntry: TimerHandler {
  func recordNanoseconds(_ duration: Int64) {
    value.withLock { value in
      guard case .times(let count, let sum, let longest) = value else {
        value = .times(count: 1, sum: Double(duration), longest: duration)
        return
      }
      value = .times(
        count: count + 1, sum: sum + Double(duration), longest: max(longest, duration))
    }
  }
}
