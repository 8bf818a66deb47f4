/// How long things may take in a chat, and how much of them there may be.
public struct ChatLimits: Sendable {
  /// How long a vote may take; a gate that has not answered by then says no.
  public var vote = Duration.seconds(1)
  /// How long the audit may take to write a line, or to have no more than a hundred left to write.
  public var audit = Duration.seconds(5)
  /// How long a member may take to hear a line, before it is given up.
  public var hearing = Duration.seconds(30)
  /// How long a client may be silent, neither read nor write, before it is disconnected.
  public var silence = Duration.seconds(600)
  /// How long a client has to say who it is.
  public var greeting = Duration.seconds(30)
  /// How many lines may wait for a member; if one more comes, the oldest is dropped.
  public var mailbox = 256
  /// How many rooms there may be.
  public var rooms = 1000
  /// In how many of them a member may be.
  public var roomsEach = 20
  /// How many connections there may be.
  public var connections = 1000
  /// How many bytes a line of a client may have.
  public var line = 1000
  /// How many lines in a row may be no command; after one more the connection ends.
  public var malformed = 20
  /// How long the server may take to stop.
  public var drain = Duration.seconds(5)

  /// The default limits.
  public init() {}
}
