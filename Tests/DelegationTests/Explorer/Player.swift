/// What the subscribers of a schedule are called by.
protocol Subject: AnyObject, Sendable {
  /// A number that no other subscriber of the schedule has.
  var number: Int { get }

  /// A handler begins.
  ///
  /// - Returns: the episode, if it may.
  func begin(_ call: Int) -> Int?

  func handle(_ call: Int, in episode: Int?) throws
  func handle(_ call: Int, in episode: Int?) async throws
  func answer(_ call: Int, in episode: Int?) async throws -> Bool
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

  func begin(_ call: Int) -> Int? {
    scenario.begin(call, by: self)
  }

  func handle(_ call: Int, in episode: Int?) throws {
    try scenario.handle(call, in: episode, by: self)
  }

  func handle(_ call: Int, in episode: Int?) async throws {
    try await scenario.handleAsynchronously(call, in: episode, by: self)
  }

  func answer(_ call: Int, in episode: Int?) async throws -> Bool {
    try await scenario.answer(call, in: episode, by: self)
  }
}
