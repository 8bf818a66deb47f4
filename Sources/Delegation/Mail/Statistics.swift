extension DelegateHub {
  /// What has become of a hub's notifications and questions, per protocol and subscriber.
  ///
  /// The counts are exact: at every moment, for each protocol and for the hub,
  /// `handled + failed + expired + dropped + cancelled + passedOver + waiting + handling` is `addressed`, the sum over
  /// all notifications of the number of subscribers that each was addressed to (``Counts/passedOver`` names one
  /// exception). What is posted to nobody counts nowhere. For questions and `forEach`,
  /// `answered + failed + late + abandoned + answering` is `asked`, the sum over all questions of the number of
  /// subscribers that each was put to. A subscriber that turns out to be gone, or that an interceptor does not call,
  /// may be in `asked` and `answering` for a moment. So `asked` may fall, while `answered`, `failed`, `late` and
  /// `abandoned` only grow.
  public struct Statistics: Sendable {
    /// How many notifications wait, are being handled, or ended in which way.
    public struct Counts: Sendable, Hashable {
      /// Notifications whose handlers returned.
      public internal(set) var handled = 0
      /// Notifications whose handlers threw.
      public internal(set) var failed = 0
      /// Notifications not handled before the subscriber died.
      public internal(set) var expired = 0
      /// Notifications that a full mailbox dropped.
      public internal(set) var dropped = 0
      /// Notifications not handled before a living subscriber's subscription ended.
      public internal(set) var cancelled = 0
      /// Notifications whose handler an interceptor did not call, or that name a further protocol to which the
      /// subscriber does not conform.
      ///
      /// See ``DelegateHub/Interceptor`` and ``Delegates/conforming(to:)``. Such notifications wait for their turn, and
      /// count towards a mailbox's limit. A question or `forEach` that comes to an ``EventStream`` is counted here as
      /// well, and as addressed.
      public internal(set) var passedOver = 0
      /// Notifications that wait for their turn.
      public internal(set) var waiting = 0
      /// Notifications that are being handled.
      public internal(set) var handling = 0

      /// The sum of the counts: all addressed notifications.
      public var addressed: Int {
        handled + failed + expired + dropped + cancelled + passedOver + waiting + handling
      }

      static func += (counts: inout Self, other: Self) {
        counts.handled += other.handled
        counts.failed += other.failed
        counts.expired += other.expired
        counts.dropped += other.dropped
        counts.cancelled += other.cancelled
        counts.passedOver += other.passedOver
        counts.waiting += other.waiting
        counts.handling += other.handling
      }
    }

    /// How many questions are being answered, or have ended in which way.
    ///
    /// A question counts once for each subscriber that it is put to: not for a subscriber that is gone or does not
    /// conform, nor for one whose turn never comes, because the outcome is decided before.
    public struct Questions: Sendable, Hashable {
      /// Questions answered in time: the handler returned, and what it returned counts.
      public internal(set) var answered = 0
      /// Questions whose handlers threw before their tasks were cancelled.
      public internal(set) var failed = 0
      /// Questions whose handlers ended after the deadline.
      ///
      /// A handler that still runs counts as ``answering``, though the incident ``DelegateHub/Incident/Kind/late``
      /// comes at the deadline.
      public internal(set) var late = 0
      /// Questions whose outcome was decided before the answer came, or whose caller was cancelled.
      ///
      /// A handler is counted here when it returns or throws. Where the closure awaits nothing and the subscribers are
      /// asked in a loop, each handler that returns counts as answered.
      public internal(set) var abandoned = 0
      /// Questions that are being answered.
      public internal(set) var answering = 0

      /// The sum of the counts: all questions asked.
      public var asked: Int { answered + failed + late + abandoned + answering }

      static func += (questions: inout Self, other: Self) {
        questions.answered += other.answered
        questions.failed += other.failed
        questions.late += other.late
        questions.abandoned += other.abandoned
        questions.answering += other.answering
      }
    }

    /// The protocols that anybody has ever subscribed to, sorted by name.
    public let protocols: [ProtocolStatistics]
  }
}

/// What became of the notifications addressed to one or more subscriptions.
typealias Account = DelegateHub.Statistics.Counts

/// What became of the questions put to one or more subscribers.
typealias QuestionAccount = DelegateHub.Statistics.Questions
