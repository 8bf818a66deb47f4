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
}

extension SmallWorld {
  /// Goes through all histories of that many steps, or that end before.
  ///
  /// - Returns: the first thing found wrong, and the steps that led there.
  func explore(upTo length: Int) -> String? {
    var path: [Step] = []
    return explore(length, &path)
  }

  private func explore(_ length: Int, _ path: inout [Step]) -> String? {
    for step in length > 0 ? steps : [] {
      var world = self
      path.append(step)
      if let fault = world.take(step) { return "\(fault) after \(path)" }
      if let fault = world.explore(length - 1, &path) { return fault }
      path.removeLast()
    }
    return nil
  }
}

/// All words of that length over an alphabet, for worlds that can only be lived through from the start.
func words<Letter>(of alphabet: [Letter], length: Int) -> [[Letter]] {
  if length == 0 { return [[]] }
  return words(of: alphabet, length: length - 1).flatMap { word in alphabet.map { word + [$0] } }
}
