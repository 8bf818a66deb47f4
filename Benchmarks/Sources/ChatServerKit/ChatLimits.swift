/// How long things may take in a chat, and how much of them there may be.
package struct ChatLimits: Sendable {
  /// How long a vote may take; a gate that has not answered by then says no.
  package var vote = Duration.seconds(1)
  /// How long the audit may take to write a line, or to have no more than a hundred left to write.
  package var audit = Duration.seconds(5)
  /// How long a member may take to hear a line, before it is given up.
  package var hearing = Duration.seconds(30)
  /// How long a client may be silent, neither read nor write, before it is disconnected.
  package var silence = Duration.seconds(600)
  /// How long a client has to say who it is.
  package var greeting = Duration.seconds(30)
  /// How many lines may wait for a member; if one more comes, the oldest is dropped.
  package var mailbox = 256
  /// How many rooms there may be.
  package var rooms = 1000
  /// In how many of them a member may be.
  package var roomsEach = 20
  /// How many connections there may be.
  package var connections = 1000
  /// How many bytes a line of a client may have.
  package var line = 1000
  /// How many lines in a row may be no command; after one more the connection ends.
  package var malformed = 20
  /// How long the server may take to stop.
  package var drain = Duration.seconds(5)

  /// The default limits.
  package init() {}
}
