/// A small world of which every history up to a length is gone through, beside a simple model.
///
/// It must have value semantics, as each step is taken in a copy.
protocol SmallWorld {
  associatedtype Step
  /// What can happen next.
  var steps: [Step] { get }
  /// Lets it happen.
  ///
  /// - Returns: what is wrong now, if anything.
  mutating func take(_ step: Step) -> String?
  /// What is wrong once a history has come to its end, if anything.
  func fault() -> String?
}

extension SmallWorld {
  func fault() -> String? { nil }
}

/// What going through all histories came to.
struct Exploration: CustomStringConvertible {
  /// How many histories were gone through.
  var histories = 0
  /// The first thing found wrong, and the steps that led there.
  var fault: String?

  var description: String { "\(histories) histories, \(fault ?? "no fault")" }
}

extension SmallWorld {
  /// Goes through all histories of that many steps, or that end before, and stops at the first fault.
  func explore(upTo length: Int) -> Exploration {
    var exploration = Exploration()
    var path: [Step] = []
    explore(length, &path, &exploration)
    return exploration
  }

  private func explore(_ length: Int, _ path: inout [Step], _ exploration: inout Exploration) {
    let steps = length > 0 ? steps : []
    if steps.isEmpty {
      exploration.histories += 1
      if let fault = fault() { exploration.fault = "\(fault) at the end of \(path)" }
    }
    for step in steps {
      var world = self
      path.append(step)
      if let fault = world.take(step) {
        exploration.fault = "\(fault) after \(path)"
      } else {
        world.explore(length - 1, &path, &exploration)
      }
      path.removeLast()
      if exploration.fault != nil { return }
    }
  }
}

/// All words of that length over an alphabet, for worlds that can only be lived through from the start.
func words<Letter>(of alphabet: [Letter], length: Int) -> [[Letter]] {
  if length == 0 { return [[]] }
  return words(of: alphabet, length: length - 1).flatMap { word in alphabet.map { word + [$0] } }
}
