/// What a line of the table should reach, and how far chance alone may move it.
struct Target: Sendable {
  /// What is asked for.
  enum Goal: Sendable {
    /// The reference takes at least this many times as long as the subject.
    case faster(Double)
    /// The subject takes at most this many times as long as the reference.
    case within(Double)
    /// The subject's own figure is at most this, whatever others take.
    case atMost(Double)
  }

  /// What makes two runs of the same build differ.
  enum Noise: Sendable {
    /// The machine's other work, of which interleaved rounds take out the most.
    case usual
    /// When the kernel wakes a thread, besides.
    case wakes
    /// Next to nothing: bytes are counted.
    case counted
  }

  /// What is asked for.
  let goal: Goal
  /// What makes two runs differ.
  let noise: Noise

  /// Asks that the reference take at least so many times as long.
  static func faster(_ times: Double, noise: Noise = .usual) -> Target {
    Target(goal: .faster(times), noise: noise)
  }

  /// Asks that the subject take at most so many times as long as the reference.
  static func within(_ times: Double, noise: Noise = .usual) -> Target {
    Target(goal: .within(times), noise: noise)
  }

  /// Asks that the subject's own figure be at most this.
  static func atMost(_ limit: Double, noise: Noise = .usual) -> Target {
    Target(goal: .atMost(limit), noise: noise)
  }

  /// The result in the target's terms: how many times faster, how many times as long, or the figure
  /// itself.
  ///
  /// - Parameters:
  ///   - figure: the subject's.
  ///   - ratio: the subject's figure in units of the reference's.
  /// - Returns: the result, worst of all if it takes a reference and there is none.
  func result(figure: Double, ratio: Double?) -> Double {
    switch goal {
    case .faster: 1 / (ratio ?? .infinity)
    case .within: ratio ?? .infinity
    case .atMost: figure
    }
  }

  /// How far a result is from the target: 1 just reaches it, 1.1 misses it by a tenth.
  ///
  /// - Parameter result: in the target's terms.
  /// - Returns: what was measured in units of what was asked for.
  func excess(of result: Double) -> Double {
    switch goal {
    case .faster(let times): times / result
    case .within(let limit), .atMost(let limit): result / limit
    }
  }

  /// By which part the target may be missed before that is more than noise.
  ///
  /// - Parameter usual: that part for a ratio of times under usual circumstances.
  /// - Returns: that part for this target.
  func allowance(usual: Double) -> Double {
    switch noise {
    case .usual: usual
    case .wakes: 2 * usual
    case .counted: 0.05
    }
  }
}
