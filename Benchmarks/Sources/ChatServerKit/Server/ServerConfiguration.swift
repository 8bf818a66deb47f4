import DelegationAdapters

/// What a server is to be like.
package struct ServerConfiguration: Sendable {
  package var host = "127.0.0.1"
  /// 0 for any that is free.
  package var port = 0
  package var engine = EngineKind.hub
  package var accounts: [Account] = []
  /// The extensions that it begins without.
  package var without: Set<String> = []
  /// How many messages a user may say in a second.
  package var floodLimit = 20
  /// How long an extension may think.
  package var deadline = Duration.milliseconds(100)
  /// How many messages may wait for a member that does not keep up.
  package var backlog = 1000
  /// How many bytes, of what the members of a room are sent, may wait for one that does not keep up.
  package var backlogBytes = 128 * 1024
  /// How many bytes may wait in all rooms together, more or less: what the rooms' shares are of.
  package var backlogBytesInAll = 32 * 1024 * 1024
  /// Where to write down what happens; `nil` for nowhere.
  package var auditFile: String?
  /// The port of a page that shows the hubs; `nil` for none.
  package var pagePort: Int?
  /// How long to wait at the end until everybody has been told everything.
  package var drainTime = Duration.seconds(5)
  /// For how long the server waits for a client to take what it is sent at the end, and to go.
  package var farewellTime = Duration.seconds(2)
  /// How long a line may be.
  package var lineLimit = 4096
  /// How many lines a second a client may have carried out.
  package var linesPerSecond = 50
  /// How many connections there may be at a time, if descriptors allow as many.
  package var connectionLimit = 1000
  /// For how long a client may take nothing of what it is sent.
  package var writeTimeout = Duration.seconds(60)
  /// For how long a client may be connected without logging in.
  package var logInTime = Duration.seconds(30)
  /// For how long a client that has logged in may write nothing.
  package var idleTime = Duration.seconds(900)
  /// How often a client may try to log in.
  package var logInLimit = 10
  /// For how long a client that is not known waits to be told.
  package var refusalTime = Duration.seconds(1)
  /// How many rooms there may be at a time; some of them are kept for those who have logged in with a password.
  package var roomLimit = 1000
  /// In how many rooms a client may be at a time.
  package var roomsEach = 50
  /// The same for a guest.
  package var roomsEachGuest = 10
  /// Whether to stop when standard input ends.
  package var stopsWithInput = false

  package init() {}

  /// How many descriptors a page at a port may use; none if there is no page.
  static func pageDescriptors(at port: Int?) -> Int {
    port == nil ? 0 : HubPageService.Configuration().descriptorLimit
  }
}
