extension DelegateHub {
  /// What has become of a hub's notifications and questions, per protocol and subscriber.
  ///
  /// The counts are exact: at every moment, for each protocol and for the hub, `handled + failed + expired + dropped +
  /// cancelled + passedOver + waiting + handling` is `addressed`, the sum over all notifications of the number of
  /// subscribers that each was addressed to (``Counts/passedOver`` names one exception). What is posted to nobody is in
  /// none of them. Of questions and `forEach`, `answered + failed + late + abandoned + answering` is `asked`, the sum
  /// over all questions of the number of subscribers that each was put to. A subscriber that turns out to be gone, or
  /// that an interceptor does not call, may be in `asked` and `answering` for a moment: so `asked` may fall, while the
  /// first four only grow.
  public struct Statistics: Sendable {
    /// How many notifications ended in which way.
    public struct Counts: Sendable, Hashable {
      /// Their handlers returned.
      public internal(set) var handled = 0
      /// Their handlers threw.
      public internal(set) var failed = 0
      /// Their subscriber died before it got to them.
      public internal(set) var expired = 0
      /// The subscriber's mailbox was full.
      public internal(set) var dropped = 0
      /// The subscription was ended before it got to them.
      public internal(set) var cancelled = 0
      /// An interceptor did not call their handlers, or their subscriber does not conform to a further protocol that
      /// they are for.
      ///
      /// See ``DelegateHub/Interceptor`` and ``Delegates/conforming(to:)``. They wait for their turn, and count towards
      /// a mailbox's limit. A question or `forEach` that comes to an ``EventStream`` is counted here as well, and as
      /// addressed.
      public internal(set) var passedOver = 0
      /// They wait.
      public internal(set) var waiting = 0
      /// They are being handled.
      public internal(set) var handling = 0

      /// All of them: how many were addressed.
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

    /// How many questions ended in which way.
    ///
    /// A question counts once for each subscriber that it is put to: not for a subscriber whose turn never comes,
    /// because the outcome is decided before, nor for one that is gone or does not conform.
    public struct Questions: Sendable, Hashable {
      /// They were answered in time: each handler returned, and what it returned counts.
      public internal(set) var answered = 0
      /// Their handlers threw before their tasks were cancelled.
      public internal(set) var failed = 0
      /// Their handlers ended after the deadline; a handler that still runs is ``answering``, though the incident
      /// ``DelegateHub/Incident/Kind/late`` comes at the deadline.
      public internal(set) var late = 0
      /// Their outcome was decided before they were answered, or their caller was cancelled.
      ///
      /// A handler is counted here when it returns or throws. Where the closure awaits nothing and the subscribers are
      /// asked in a loop, each handler that returns counts as answered.
      public internal(set) var abandoned = 0
      /// They are being answered.
      public internal(set) var answering = 0

      /// All of them: how many were asked.
      public var asked: Int { answered + failed + late + abandoned + answering }

      static func += (questions: inout Self, other: Self) {
        questions.answered += other.answered
        questions.failed += other.failed
        questions.late += other.late
        questions.abandoned += other.abandoned
        questions.answering += other.answering
      }
    }

    /// The protocols that anybody has ever subscribed to, by name.
    public let protocols: [ProtocolStatistics]
  }
}

/// What became of the notifications that were addressed to one subscription, or to several.
typealias Account = DelegateHub.Statistics.Counts

/// What became of the questions that one subscriber was asked, or that several were.
typealias QuestionAccount = DelegateHub.Statistics.Questions
