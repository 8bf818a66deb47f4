/// What the subscribers of a schedule are called by.
protocol Subject: AnyObject, Sendable {
  func handle(_ call: Int) throws
  func handle(_ call: Int) async throws
  func answer(_ call: Int) async throws -> Bool
  /// A number that no other subscriber of the schedule has.
  var number: Int { get }
}

/// A subscriber of a schedule.
final class Player: Subject {
  let slot: Int
  let number: Int
  private let scenario: Scenario
  private let life: Lifetimes.Tracked

  init(_ number: Int, in slot: Int, of scenario: Scenario, life: Lifetimes.Tracked) {
    self.number = number
    self.slot = slot
    self.scenario = scenario
    self.life = life
  }

  deinit {
    scenario.playerDied(number)
  }

  func handle(_ call: Int) throws {
    try scenario.handle(call, by: self)
  }

  func handle(_ call: Int) async throws {
    try await scenario.handleAsynchronously(call, by: self)
  }

  func answer(_ call: Int) async throws -> Bool {
    try await scenario.answer(call, by: self)
  }
}
