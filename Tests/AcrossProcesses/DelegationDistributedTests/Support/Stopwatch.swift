import Foundation

/// Measures how long things take, for assertions with wide margins and for figures to print.
struct Stopwatch {
  private let start = ContinuousClock.now

  var elapsed: Duration { start.duration(to: .now) }
}

extension Duration {
  /// The duration in the unit that suits it.
  var short: String {
    let seconds = self / .seconds(1)
    return switch seconds {
    case ..<0.001: (seconds * 1e6).rounded(toPlaces: 1) + " µs"
    case ..<1: (seconds * 1e3).rounded(toPlaces: 1) + " ms"
    default: seconds.rounded(toPlaces: 2) + " s"
    }
  }
}

extension Double {
  fileprivate func rounded(toPlaces places: Int) -> String {
    formatted(.number.precision(.fractionLength(places)))
  }
}
