/// What a load is to be like.
package struct LoadPlan: Sendable {
  package var host = "127.0.0.1"
  package var port = 7000
  package var clients = 200
  package var rooms = 4
  /// Messages a second, of all clients together; 0 for as many as go.
  package var rate = 200
  /// With a rate of 0: how many of a room's clients each keep one message under way.
  package var senders = 4
  package var duration = Duration.seconds(5)
  /// Every how many messages one is to be refused by the moderator; 0 for none.
  package var unwelcomeEvery = 50
  /// Whether others misbehave meanwhile.
  package var misbehaves = false
  /// An administrator of the server, who loads the extension that hangs.
  package var administrator: (name: String, password: String)?
  /// How long to wait for what is missing at the end.
  package var patience = Duration.seconds(10)

  package init() {}
}
