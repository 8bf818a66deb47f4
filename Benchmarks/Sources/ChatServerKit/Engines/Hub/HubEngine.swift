import Delegation
import DelegationAdapters
import Logging
import ServiceContextModule
import ServiceLifecycle
import Synchronization

/// The server's extensions subscribe to one hub; each room has one of its own for its members.
///
/// A hub's key is the protocol, so a message to one room's members needs a hub that has no others.
final class HubEngine: Engine {
  private let hub: DelegateHub
  private let audiences: HubList
  private let watch = HubWatch()
  private let deadline: Duration
  private let backlog: Int
  /// Of the extensions that only so many events may wait for: those that were removed as well.
  private let limited = Mutex<[DelegateHub.Subscription]>([])
  private let patience = Patience()
  private let guards = Guards()
  /// Whether who says something waits until all members have taken it.
  private let isAwaited: Bool

  init(
    deadline: Duration, backlog: Int, backlogBytes: RoomShare, isAwaited: Bool,
    isWatched: Bool = false,
    faults: FaultLog
  ) {
    self.deadline = deadline
    self.backlog = backlog
    self.isAwaited = isAwaited
    var configuration = DelegateHub.Configuration()
    let (watch, patience) = (watch, patience)
    @Sendable func report(_ incident: DelegateHub.Incident, _ level: Logger.Level) {
      watch.note(incident)
      if let name = patience.giveUp(after: incident) {
        faults.report(
          .critical, "an extension was given up: its handlers hang",
          metadata: ["extension": "\(name)"])
      }
      faults.report(
        level, "a handler: \(incident.kind)", metadata: ["incident": "\(incident)"])
    }
    // A member fails when its client is gone; an extension has no reason to.
    configuration.onIncident = { report($0, $0.kind == .failed ? .debug : .warning) }
    audiences = HubList(configuration, backlogBytes: backlogBytes)
    // Not in the rooms: who is told something there is told by a handler each, which are the most by far.
    if isWatched { configuration.interceptors = [watch] }
    configuration.onIncident = { report($0, $0.kind == .failed ? .error : .warning) }
    configuration.propagating = [.taskLocal(ServiceContext.$current)]
    configuration.slowAfter = .seconds(1)
    hub = DelegateHub(configuration)
  }

  /// The extensions' hub, then the rooms'.
  var hubs: [DelegateHub] { [hub] + audiences.all }
  /// How many hubs rooms use.
  var hubsInUse: Int { audiences.countInUse }

  func add(_ extension: any ServerExtension) {
    guards.add(`extension`)
    let options = `extension`.options
    let executor = options.queue.map(DispatchQueueExecutor.init)
    @discardableResult
    func subscribe<P: Sendable>(
      _ protocol: P.Type, mailbox: DelegateHub.MailboxPolicy = .unbounded
    ) -> DelegateHub.Subscription? {
      guard let subscriber = `extension` as? P else { return nil }
      let subscription = hub.subscribe(
        subscriber, to: `protocol`, priority: options.priority, id: `extension`.name,
        mailbox: mailbox, on: executor, fileID: options.fileID, line: options.line)
      patience.add(subscription, of: `extension`.name)
      return subscription
    }
    subscribe((any Authenticator).self)
    subscribe((any JoinRule).self)
    subscribe((any MessageGate).self)
    subscribe((any MessageRule).self)
    subscribe((any MessageRewriter).self)
    let observing = subscribe(
      (any RoomObserver).self, mailbox: options.backlog.map { .dropNewest(limit: $0) } ?? .unbounded
    )
    if let observing, options.backlog != nil { limited.withLock { $0.append(observing) } }
    subscribe((any HistoryKeeper).self)
    subscribe((any PresenceKeeper).self)
  }

  func remove(_ extension: any ServerExtension) {
    hub.unsubscribe(`extension`)
    patience.remove(`extension`.name)
  }

  func user(for credentials: Credentials) async -> Recognition {
    let inquiry = Inquiry(credentials, guards)
    return inquiry.recognition(
      by: await hub.askInTurn((any Authenticator).self, within: deadline, absent: .abstains) {
        await inquiry.ask($0)
      })
  }

  func mayJoin(_ room: String, _ user: User) async -> Verdict {
    await hub.ask(
      (any JoinRule).self, combining: Consent(of: guards.names.joinRules), within: deadline,
      absent: .counts(as: Vote(name: "", verdict: .late))
    ) { Vote(name: $0.name, verdict: await $0.verdict(on: room, user)) }
  }

  func verdict(on draft: Draft) async -> Verdict {
    let verdict = await hub.ask(
      (any MessageGate).self, combining: Consent(of: guards.names.messageGates)
    ) { Vote(name: $0.name, verdict: $0.verdict(on: draft)) }
    guard verdict == .agrees else { return verdict }
    return await hub.ask(
      (any MessageRule).self, combining: Consent(), within: deadline, absent: .abstains
    ) { Vote(name: $0.name, verdict: await $0.verdict(on: draft)) }
  }

  func rewritten(_ draft: Draft) async -> String? {
    await hub.pass(
      draft.text, through: (any MessageRewriter).self, within: deadline, absent: .abstains
    ) { await $0.rewrite($1, of: draft) }
  }

  func tell(_ event: @escaping @Sendable (any RoomObserver) throws -> Void) {
    hub.notify((any RoomObserver).self) { try event($0) }
  }

  func recent(_ count: Int, in room: String) async -> [Message] {
    await hub.askInTurn((any HistoryKeeper).self, within: deadline, absent: .abstains) {
      await $0.recent(count, in: room)
    } ?? []
  }

  func people(in room: String) async -> [String] {
    let answers: [[String]] = await hub.ask(
      (any PresenceKeeper).self, combining: .all(), within: deadline, absent: .abstains
    ) { await $0.people(in: room) }
    return answers.flatMap { $0 }
  }

  func makeAudience(of room: String) -> any Audience {
    HubAudience(room, audiences, backlog: backlog, isAwaited: isAwaited)
  }

  func makeDrainService(
    within duration: Duration, logger: Logger, after settle: @escaping @Sendable () async -> Void
  ) -> any Service {
    DrainService(within: duration, logger: logger, after: settle) { self.hubs }
  }

  func makeMetricsService(every interval: Duration) -> (any Service)? {
    HubMetricsService(HubMetrics(named: "chat") { self.hubs }, every: interval)
  }

  func makePageService(
    port: Int, logger: Logger,
    troubles: @escaping @Sendable () -> [HubPageService.Trouble]
  ) async throws -> (any Service)? {
    var page = HubPageService.Configuration()
    page.port = port
    page.troubles = troubles
    page.mailboxLimits = ["ChatServerKit.RoomMember": backlog]
    let service = HubPageService(page, watch: watch, logger: logger) { [self] in
      [(name: "extensions", hub: hub)] + audiences.inUse
    }
    try await service.bind()
    return service
  }

  var givenUp: Set<String> { patience.givenUp }

  var missedEvents: Int {
    limited.withLock { $0 }.map(\.statistics.counts).reduce(0) {
      $0 + $1.addressed - $1.handled - $1.failed
    }
  }

  func report() async -> String {
    var lines = [String(describing: await hub.statistics())]
    let accounts = await sum(of: audiences.all)
    lines.append("\(audiences.countInUse) rooms: \(accounts)")
    return lines.joined(separator: "\n")
  }

  func accounts() async -> Accounts? {
    await sum(of: hubs)
  }

  private func sum(of hubs: [DelegateHub]) async -> Accounts {
    var sum = Accounts()
    for hub in hubs { sum += await hub.statistics() }
    return sum
  }
}

extension Accounts {
  static func += (accounts: inout Self, statistics: DelegateHub.Statistics) {
    let counts = statistics.counts
    accounts.posted += statistics.posted
    accounts.addressed += statistics.addressed
    accounts.handled += counts.handled
    accounts.failed += counts.failed
    accounts.expired += counts.expired
    accounts.dropped += counts.dropped
    accounts.cancelled += counts.cancelled
    accounts.waiting += counts.waiting + counts.handling
  }
}
