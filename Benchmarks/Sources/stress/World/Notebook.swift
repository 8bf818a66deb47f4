import Synchronization

/// An event of one poster, with its running number.
struct Note: Sendable {
  let poster: Int
  let number: Int
}

/// Notes as they have come to one who takes them.
///
/// Each poster's numbers have to rise; without gaps, where nothing may be lost.
final class Notebook: Sendable {
  private let name: String
  private let world: World
  private let isGapless: Bool
  private let state = Mutex<(last: [Int: Int], count: Int)>(([:], 0))

  init(_ name: String, in world: World, isGapless: Bool) {
    (self.name, self.world, self.isGapless) = (name, world, isGapless)
  }

  var count: Int { state.withLock { $0.count } }
  /// The last number of a poster's.
  func last(of poster: Int) -> Int { state.withLock { $0.last[poster] ?? 0 } }

  func enter(_ note: Note) {
    let former = state.withLock { state in
      state.count += 1
      return state.last.updateValue(note.number, forKey: note.poster)
    }
    guard let former else { return }
    world.violations.check(
      isGapless ? note.number == former + 1 : note.number > former,
      "\(name): a poster's events came out of order, or one is missing")
  }
}
