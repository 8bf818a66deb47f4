extension DelegateHub {
  /// A fault that a hub reports to ``Configuration/onIncident``.
  ///
  /// ```swift
  /// let configuration = DelegateHub.Configuration(onIncident: { incident in
  ///   logger.warning("\(incident)")
  /// })
  /// ```
  ///
  /// Do not unsubscribe a voter because it is late: a vote without `ofAtLeast:` is true if no voter is left.
  /// <doc:FailingClosed> says what to do instead.
  ///
  /// ``subscriber`` makes its text each time you read it. An incident keeps its error and the subscriber's id in
  /// memory, but no subscriber whose subscription has ended.
  public struct Incident: Sendable, CustomStringConvertible {
    /// What went wrong.
    public let kind: Kind
    /// The kind of call in which the fault happened; for ``Kind/unheard``, the call that found it, or else
    /// ``Call/notify``.
    public let call: Call
    /// What the handler threw, if the kind is ``Kind/failed``.
    public internal(set) var error: (any Error)?
    /// How many notifications the subscriber's mailbox has dropped since its last incident of this kind, if the kind is
    /// ``Kind/dropped``; otherwise 0.
    public internal(set) var dropped = 0
    /// How many subscribers there were, if the kind is ``Kind/tooFew``; otherwise 0.
    public internal(set) var present = 0
    /// How many answers the rule needs, if the kind is ``Kind/tooFew``; otherwise 0.
    public internal(set) var needed = 0
    /// How many incidents after this one were left out, because too many waited to be reported.
    public internal(set) var leftOut = 0
    /// How long the handler had been running, by the hub's clock, if the kind is ``Kind/late`` or ``Kind/slow``;
    /// otherwise `nil`.
    ///
    /// For ``Kind/late``, the time counts from when the question, or the subscriber's turn, began. The duration is
    /// `nil` if the handler had not begun, because its executor or the closure's actor was busy, or an interceptor had
    /// not called it.
    public internal(set) var duration: Duration?
    /// The subscriber's subscription, which you can end.
    ///
    /// For ``Kind/tooFew``, which concerns no subscriber, this is a placeholder that has already ended.
    public let subscription: Subscription
    /// The time from which ``duration`` counts; `nil` if it is unknown.
    var start: Duration?
    /// The task-locals to bind around ``Configuration/onIncident``; `nil` until they are captured.
    var context: TaskLocalPropagation.Context?
    let id: Identity?

    /// The protocol's name.
    public var `protocol`: String { subscription.node.topic.name }
    /// The subscriber's type, and its id if it has one; "nobody" for ``Kind/tooFew``.
    public var subscriber: String { kind == .tooFew ? "nobody" : subscription.node.name(with: id) }
    /// Where in the source the subscriber was subscribed.
    public var site: String { subscription.node.site.description }

    /// What happened, in one line.
    public var description: String {
      let text =
        kind == .tooFew
        ? "\(self.protocol) \(predicate)"
        : "\(subscriber), subscribed to \(self.protocol) at \(site), \(predicate)"
      let suffix = leftOut == 0 ? "" : " (\(leftOut) more incidents left out)"
      return text.split(whereSeparator: \.isNewline).joined(separator: " ") + suffix
    }

    private var predicate: String {
      switch kind {
      case .failed: "failed in \(call): \(error.map { "\($0)" } ?? "")"
      case .late: "had not answered at the deadline of \(call)"
      case .slow: "is slow in \(call)"
      case .dropped: "has a full mailbox: \(dropped) dropped since the last time"
      case .tooFew:
        "has too few subscribers for \(call): the rule needs \(needed), \(present) subscribed"
      case .unheard:
        """
        died before it was ever called, as \(call) found: who keeps it? A local variable does so until \
        its last use
        """
      }
    }
  }
}

extension DelegateHub.Incident {
  /// What went wrong; more kinds may be added, so a `switch` has a `default`.
  public enum Kind: String, Sendable, CustomStringConvertible {
    /// A handler threw an error that no caller receives: a handler of a notification, or of a question with `absent:`.
    ///
    /// What a handler throws after its task was cancelled, because the question was decided or the caller cancelled, is
    /// no incident.
    case failed

    /// A subscriber had not answered at a deadline.
    ///
    /// The hub reports this at the deadline; ``DelegateHub/Statistics/Questions/late`` counts the handler when it ends.
    /// The caller of a `collect` also gets ``DelegateHub/ReplyError/timedOut``.
    ///
    /// If another object has taken the subscriber's `id:` since the question began, the incident names that object,
    /// even if it was not asked. With a deadline of zero nobody is asked, and nobody reported.
    case late

    /// A handler has been running for longer than ``DelegateHub/Configuration/slowAfter``, and still runs.
    case slow

    /// A full mailbox has begun to drop notifications.
    ///
    /// The hub reports this again if the mailbox drops once more after the subscriber has caught up.
    ///
    /// A mailbox with a limit of 1, such as ``DelegateHub/MailboxPolicy/latest``, is meant to drop: its drops are
    /// counted, but not reported.
    case dropped

    /// A subscriber died before its subscription was ever called, though calls were made on its protocol.
    ///
    /// Most often no reference kept the subscriber alive, as in `hub.subscribe(Bouncer(), to: DoorDelegate.self)`, or
    /// only a local variable did, which lasts until its last use, not until the scope's end.
    ///
    /// The hub reports a dead subscriber once, when a call or a search for dead ones finds it. It does not report a
    /// subscriber if another of the same type, subscribed by the same line of the source, was called: that line keeps
    /// its subscribers alive, so this one was released on purpose. The hub remembers 64 pairs of line and type for each
    /// protocol; of further pairs it reports each uncalled subscriber. It never reports a stream, nor an observer whose
    /// owner has died.
    case unheard

    /// A rule needs more answers than there are subscribers to ask, so it always refuses.
    ///
    /// For example, `.unanimous(ofAtLeast: 2)` with one subscriber. The hub reports each needed number of answers once,
    /// and again only after as many subscribers have been there. It remembers 64 numbers, and reports no others.
    /// Streams count as subscribers here, and so do subscribers that do not conform to what `conforming(to:)` names.
    case tooFew

    /// The kind's name.
    public var description: String { rawValue }
  }

  /// The kind of call that an incident happened in; more may be added, so a `switch` has a `default`.
  public enum Call: String, Sendable, CustomStringConvertible {
    /// `forEach`.
    case forEach
    /// `notify`.
    case notify
    /// `notifyAndWait`.
    case notifyAndWait
    /// `vote`, with `absent:` as well.
    case vote
    /// `ask`, with `absent:` as well.
    case ask
    /// `collect`.
    case collect
    /// `askInTurn`.
    case askInTurn
    /// `pass`.
    case pass

    /// The call's name.
    public var description: String { rawValue }
  }
}

@usableFromInline
typealias CallKind = DelegateHub.Incident.Call
