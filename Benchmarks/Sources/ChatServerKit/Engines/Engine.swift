import DelegationAdapters
import Logging
import ServiceLifecycle

/// What calls the server's extensions and the rooms' members: a hub, or what one would write without it.
///
/// No question takes longer than the server's deadline, whatever the extensions do; gates are asked without one,
/// and have no way to wait.
protocol Engine: Sendable {
  func add(_ extension: any ServerExtension) async
  func remove(_ extension: any ServerExtension) async

  /// The first answer of the authenticators, by priority, who all have to be there; in time, or it is undecided.
  func user(for credentials: Credentials) async -> Recognition
  /// Whether all join rules agree, in time; whatever objection comes first, if they do not.
  func mayJoin(_ room: String, _ user: User) async -> Verdict
  /// The first objection of the gates, who all have to agree; else whatever objection comes first of the rules
  /// that answer in time.
  func verdict(on draft: Draft) async -> Verdict
  /// What the rewriters make of a draft, as far as they do in time; `nil` for no message at all.
  func rewritten(_ draft: Draft) async -> String?
  /// Tells all observers and waits for none. Each is told in the order of the calls.
  func tell(_ event: @escaping @Sendable (any RoomObserver) throws -> Void)
  /// What the first one remembers that remembers anything; nothing if that takes too long.
  func recent(_ count: Int, in room: String) async -> [Message]
  /// What all know together that answer in time.
  func people(in room: String) async -> [String]

  func makeAudience(of room: String) -> any Audience

  /// A service that waits at shutdown until everybody has been told everything, for a time.
  ///
  /// - Parameters:
  ///   - duration: how long to wait.
  ///   - logger: is told of who was left.
  ///   - settle: waits until nothing more will be told.
  /// - Returns: the service.
  func makeDrainService(
    within duration: Duration, logger: Logger, after settle: @escaping @Sendable () async -> Void
  ) -> any Service
  /// A service that reports metrics at intervals; `nil` if this engine has none.
  func makeMetricsService(every interval: Duration) -> (any Service)?
  /// A service that shows what goes on on a page, at a port that it has taken; `nil` if this engine has none.
  func makePageService(
    port: Int, logger: Logger,
    troubles: @escaping @Sendable () -> [HubPageService.Trouble]
  ) async throws -> (any Service)?
  /// How many events extensions were not told that have a limit to how many may wait: those that waited too
  /// long, or still do.
  var missedEvents: Int { get }
  /// The extensions that are not called any more, because too many of their handlers hang.
  var givenUp: Set<String> { get }
  /// What has become of what was told, for people.
  func report() async -> String
  /// What has become of what was told; `nil` if this engine keeps no accounts.
  func accounts() async -> Accounts?
}

extension Engine {
  var missedEvents: Int { 0 }
  var givenUp: Set<String> { [] }
  func makePageService(
    port: Int, logger: Logger,
    troubles: @escaping @Sendable () -> [HubPageService.Trouble]
  ) async throws -> (any Service)? { nil }
}
