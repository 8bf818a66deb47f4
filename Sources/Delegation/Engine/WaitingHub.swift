/// The waits that have handlers of one hub in their chains.
///
/// Invariant: `numbers` has the number of each wait once, in order, under what it waits for.
struct WaitingHub: Sendable {
  private let activity: Activity
  /// ``Activity/returns`` when the hub came to have such waits; `nil` after a handler returned before its
  /// wait was added.
  private var returns: Int?
  private var numbers: [WaitGoal.Subject?: [Int]] = [:]

  init(_ activity: Activity) {
    self.activity = activity
    returns = activity.returns.load(ordering: .sequentiallyConsistent)
  }

  var isEmpty: Bool { numbers.isEmpty }

  mutating func add(_ number: Int, for subject: WaitGoal.Subject?) {
    numbers[subject, default: []].append(number)
  }

  mutating func remove(_ number: Int, for subject: WaitGoal.Subject?) {
    // From the end: waits for each other end in the opposite order.
    guard let place = numbers[subject]?.lastIndex(of: number) else { return }
    numbers[subject]?.remove(at: place)
    if numbers[subject]?.isEmpty == true { numbers[subject] = nil }
  }

  /// Notes that a handler returned before its wait was added.
  mutating func noteReturn() {
    returns = nil
  }

  /// Whether all of the hub's handlers that were in the chains still are.
  var hasNoReturn: Bool {
    returns == activity.returns.load(ordering: .sequentiallyConsistent)
  }

  /// The hubs for whose rest it waited before a wait.
  func goals(before number: Int) -> [ObjectIdentifier] {
    numbers.compactMap { subject, numbers in
      guard case .hub(let hub) = subject, let first = numbers.first, first < number else {
        return nil
      }
      return hub
    }
  }

  /// Whether all of its waits are for the rest of some hubs, and none came later than a wait.
  func waitsOnly(for hubs: some Sequence<ObjectIdentifier>, upTo number: Int) -> Bool {
    numbers.allSatisfy { subject, numbers in
      guard case .hub(let hub) = subject, let last = numbers.last else { return false }
      return hubs.contains(hub) && last <= number
    }
  }
}
