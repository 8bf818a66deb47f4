import Foundation
import Synchronization

/// A number that many tasks count up.
final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .acquiring) }

  /// Counts one, or some; returns the number then.
  @discardableResult
  func add(_ count: Int = 1) -> Int {
    number.wrappingAdd(count, ordering: .acquiringAndReleasing).newValue
  }
}

/// How often everything was done, for the report to say what a run has covered.
final class Tally: Sendable {
  enum Call: String, CaseIterable {
    case notify, notifyAndWait, window = "with a window", forEach, vote, ask, collect, askInTurn,
      pass, conforming = "conforming(to:)"
    case post, stream, next, once, observe, replay = "replaying", demand
  }

  enum Kind: String, CaseIterable {
    case weak, strong, actor, mainActor = "on the main actor", executor = "on an executor", limited,
      prioritized, owned = "owned closure", visitor = "with an id"
  }

  enum Ending: String, CaseIterable {
    case cancel, cancelAndWait, unsubscribe, unsubscribeID = "unsubscribe(id:)", unsubscribeAll,
      itself = "by itself", takeOver = "take-over", death, finish, loopBreak = "a loop's break",
      loopCancelled = "a loop cancelled", hubReleased = "the hub released",
      closed = "closed for good"
  }

  private let counters: [String: Counter] = {
    let names =
      Call.allCases.map(\.rawValue) + Kind.allCases.map(\.rawValue)
      + Ending.allCases.map(\.rawValue)
    return Dictionary(uniqueKeysWithValues: names.map { ($0, Counter()) })
  }()

  func count(_ call: Call, _ number: Int = 1) { counters[call.rawValue]?.add(number) }
  func count(_ kind: Kind) { counters[kind.rawValue]?.add() }
  func count(_ ending: Ending) { counters[ending.rawValue]?.add() }

  /// A line: how often each of them was done.
  func text<Item: CaseIterable & RawRepresentable<String>>(_ items: Item.Type) -> String {
    Item.allCases.map { "\(counters[$0.rawValue]!.value.short) \($0.rawValue)" }
      .joined(separator: ", ")
  }

  /// What was never done: a run in which it did not happen proves nothing of it.
  var missing: [String] { counters.filter { $0.value.value == 0 }.keys.sorted() }
}

extension Int {
  /// With two digits or so: 1234567 is 1.2M.
  var short: String {
    formatted(.number.notation(.compactName).locale(Locale(identifier: "en_US")))
  }
}
