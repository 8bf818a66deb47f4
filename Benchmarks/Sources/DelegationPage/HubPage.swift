public import Delegation
import Synchronization

/// Keeps what a page shows and statistics do not have: what hubs have reported, and since when something is wrong.
///
/// Hubs report to it by `onIncident`; ``HubPageService`` shows it. Nothing is measured: while nobody looks, it does
/// something at an incident only. Give the hubs a `slowAfter`, or a handler that hangs is known from the first look on.
///
/// ```swift
/// let page = HubPage()
/// let hub = DelegateHub(.init(onIncident: { page.note($0) }, slowAfter: .seconds(1)))
/// let service = HubPageService(page, port: 7001, needs: [.init(hub[OrderGate.self])]) { [("orders", hub)] }
/// ```
public final class HubPage: Sendable {
  private let book = Mutex(TroubleBook())

  /// Makes a page of nothing.
  public init() {}

  /// Keeps an incident; those of one subscriber and kind are shown as one, with their number.
  ///
  /// - Parameter incident: the incident.
  public func note(_ incident: DelegateHub.Incident) { note(Report(incident), at: .now) }

  /// Keeps that a subscription was ended because its handler hangs, as an interceptor with a deadline does.
  ///
  /// - Parameter call: the handler.
  public func note(givenUp call: DelegateHub.HandlerCall) { note(Report(givenUp: call), at: .now) }

  /// Takes what was lost until the last look as looked at.
  public func acknowledge() { book.withLock { $0.acknowledge() } }

  func note(_ report: Report, at now: ContinuousClock.Instant) {
    book.withLock { $0.note(report, at: now) }
  }

  func note(need name: String, isMet: Bool, at now: ContinuousClock.Instant = .now) {
    book.withLock { $0.note(need: name, isMet: isMet, at: now) }
  }

  /// What there is to show.
  ///
  /// - Parameters:
  ///   - hubs: the hubs, each with a name.
  ///   - now: the time, from which all ages are counted.
  /// - Returns: what a page shows at this moment.
  /// - Complexity: O(*n* log *n*) in the hubs' *n* subscriptions.
  public func look(
    at hubs: [(name: String, hub: DelegateHub)], now: ContinuousClock.Instant = .now
  ) -> PageState {
    let droppers = book.withLock { $0.droppers }.map {
      ($0, ($0.isActive, $0.statistics.counts.dropped))
    }
    let samples = hubs.map { name, hub in
      TroubleBook.Sample(
        name: name, slowAfter: hub.configuration.slowAfter, statistics: hub.statistics())
    }
    let seen = book.withLock { book in
      book.look(at: samples, dropped: Dictionary(droppers) { first, _ in first }, now: now)
      return book
    }
    return seen.state(of: samples, now: now)
  }
}

extension HubPage {
  /// A protocol that somebody has to be subscribed to, or its owner refuses everything.
  public struct Need: Sendable {
    let name: String
    /// Calls a closure with whether anybody is subscribed, at first and at each change.
    let follow: @Sendable (@Sendable (Bool) -> Void) async -> Void
    let isMet: @Sendable () -> Bool

    /// Makes one.
    ///
    /// - Parameter delegates: the calls of the protocol.
    public init<P: Sendable>(_ delegates: Delegates<P>) {
      let name = String(reflecting: P.self)
      self.name = name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
      let demand = delegates.demand
      follow = { note in
        for await isMet in demand { note(isMet) }
      }
      isMet = { !delegates.isEmpty }
    }
  }
}
