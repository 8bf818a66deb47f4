import Delegation
import Dispatch

/// A subscriber that is there from beginning to end, so that its account can be foretold.
struct Resident: Sendable {
  /// The id it has subscribed with, which the statistics show.
  let id: String
  /// The subscriber.
  let subscriber: any Subscriber
  /// What becomes of notifications that come too fast for it.
  let mailbox: DelegateHub.MailboxPolicy

  /// Whether it handles each and every notification.
  var isComplete: Bool { mailbox == .unbounded }

  /// Settles the residents: of every temper that ends no subscription, object and actor, with every
  /// mailbox policy and on a queue.
  ///
  /// - Parameter world: the world to settle.
  /// - Returns: the residents.
  static func settle(_ world: World) -> [Resident] {
    let queue = DispatchQueueExecutor(DispatchQueue(label: "resident"))
    func make(
      _ temper: Temper, _ mailbox: DelegateHub.MailboxPolicy = .unbounded, isActor: Bool = false,
      priority: Int = 0, hold: DelegateHub.Hold = .weakly, on executor: (any TaskExecutor)? = nil
    ) -> Resident {
      let conduct = Conduct(world, temper, isResident: true)
      let subscriber: any Subscriber = isActor ? Official(conduct) : Member(conduct)
      let id = "resident \(conduct.watch.number)"
      world.hub.subscribe(
        subscriber, to: (any Listener).self, priority: priority, id: id, hold: hold,
        mailbox: mailbox, on: executor)
      // Those who may throw have no vote: what a vote comes to shall be known beforehand.
      if temper != .failing {
        world.hub.subscribe(
          subscriber, to: (any Gatekeeper).self, priority: priority, id: id, hold: hold)
      }
      return Resident(id: id, subscriber: subscriber, mailbox: mailbox)
    }
    return [
      make(.prompt), make(.prompt, priority: 10), make(.prompt, isActor: true, hold: .strongly),
      make(.prompt, on: queue), make(.yielding), make(.failing), make(.failing, isActor: true),
      make(.meddling), make(.sleeping, .dropOldest(limit: 64)),
      make(.sleeping, .dropNewest(limit: 64), isActor: true), make(.yielding, .latest),
      make(.sleeping, .latest, priority: -10),
    ]
  }
}
