/// What a page shows at one moment, as `/json` gives it.
///
/// Times are seconds before that moment, so that no clocks are compared. It has names of types, ids, places in the
/// source and the texts of errors; no data of notifications or questions.
public struct PageState: Codable, Sendable, Equatable {
  /// Something that is wrong.
  public struct Trouble: Codable, Sendable, Equatable {
    /// What is wrong: `missing`, `hanging`, `givenUp`, or the kind of an incident, such as `failed`, `late` and `dropped`.
    public var kind: String
    /// The protocol.
    public var `protocol`: String
    /// The subscriber, with the line that subscribed it; `nil` if it is nobody's fault in particular.
    public var subscriber: String?
    /// What is wrong, in a few words.
    public var what: String
    /// For whom it is wrong: who waits or goes without, in a few words.
    public var whom: String
    /// Why, if that is known: the last error.
    public var why: String?
    /// Since when, in seconds.
    public var since: Double
    /// When it happened last, in seconds; `nil` for what is so at this moment.
    public var last: Double?
  }

  /// A hub.
  public struct Hub: Codable, Sendable, Equatable {
    /// Its name, from the program.
    public var name: String
    /// Its protocols.
    public var protocols: [Topic]
  }

  /// One protocol of a hub.
  public struct Topic: Codable, Sendable, Equatable {
    /// Its name.
    public var name: String
    /// How many subscribers there are.
    public var size: Int
    /// How many notifications and questions ended in which way, those of former subscribers included.
    public var figures: Figures
    /// The subscribers, those in trouble first; at most ``TroubleBook/rowLimit``.
    public var subscribers: [Row]
  }

  /// One subscriber of a protocol.
  public struct Row: Codable, Sendable, Equatable {
    /// Its type and id.
    public var subscriber: String
    /// The line that subscribed it.
    public var site: String
    /// Whether it has been removed, and a handler of its still runs.
    public var hasEnded: Bool
    /// How many of its handlers run.
    public var running: Int
    /// For how long at least one of them has been running, in seconds; 0 if nobody knows of any.
    public var hanging: Double
    /// How many notifications and questions ended in which way.
    public var figures: Figures
  }

  /// Counts, by the names that ``DelegateHub/Statistics`` has for them.
  public struct Figures: Codable, Sendable, Equatable {
    /// Of notifications.
    public var handled, failed, dropped, expired, cancelled, passedOver, waiting: Int
    /// Of questions.
    public var asked, answered, failedToAnswer, late, abandoned: Int
  }

  /// Incidents of one kind, of one subscriber.
  public struct Line: Codable, Sendable, Equatable {
    /// The kind, the call, the protocol, the subscriber and the line that subscribed it.
    public var kind, call, `protocol`, subscriber, site: String
    /// The last error.
    public var error: String?
    /// How many there were.
    public var count: Int
    /// When the first one and the last one were, in seconds.
    public var first, last: Double
  }

  /// What is wrong, the worst first.
  public var troubles: [Trouble]
  /// The hubs, in the program's order.
  public var hubs: [Hub]
  /// The incidents, the latest first.
  public var incidents: [Line]
}
