import NIOCore

/// By when a client has to log in, and from then on to write something.
struct IdleLimit {
  private let idleTime: TimeAmount
  private var isLoggedIn = false
  /// When the client's time is up, if it does nothing until then.
  private(set) var deadline: NIODeadline

  /// Begins with a client that has connected.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - logInTime: how long it may take to log in, whatever it writes meanwhile.
  ///   - idleTime: how long it may write no line after that.
  init(at now: NIODeadline, logInTime: TimeAmount, idleTime: TimeAmount) {
    self.idleTime = idleTime
    deadline = now + logInTime
  }

  /// Why the client is disconnected at the deadline.
  var reason: String { isLoggedIn ? "you have been idle too long" : "you have not logged in" }

  /// Takes note of a line.
  mutating func hear(at now: NIODeadline) {
    if isLoggedIn { deadline = now + idleTime }
  }

  /// Takes note that the client has logged in.
  mutating func logIn(at now: NIODeadline) {
    isLoggedIn = true
    hear(at: now)
  }
}
