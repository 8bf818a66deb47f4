/// Why ``ManualExecutor/drive(advancing:patience:stepLimit:fileID:line:_:)`` has given up.
public struct DriveFailure: Error, Sendable, CustomStringConvertible {
  /// A way to fail.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    private enum Code: String { case stuck, endless }

    private let code: Code

    /// No job was left, and the closure had not ended.
    public static let stuck = Kind(code: .stuck)
    /// The limit of jobs was reached.
    public static let endless = Kind(code: .endless)

    /// The kind's name.
    public var description: String { code.rawValue }
  }

  /// The way in which the call failed.
  public let kind: Kind
  /// How many jobs were run.
  public let steps: Int
  private let patience: Duration
  private let place: String

  init(kind: Kind, steps: Int, patience: Duration, place: String) {
    self.kind = kind
    self.steps = steps
    self.patience = patience
    self.place = place
  }

  private var waiting: String {
    patience > .zero ? ", and none has come from another thread for \(patience)" : ""
  }

  /// What happened, and what the likely causes are.
  public var description: String {
    switch kind {
    case .stuck:
      """
      ManualExecutor.drive at \(place) is stuck: its closure has not ended after \(steps) jobs, no job \
      is left\(waiting). The likely causes: it waits for \
      something that comes after this call (open the gate first, or use `start`); for a deadline of a \
      clock that nobody advances (pass `advancing: clock`); for work on another executor (a hub or an \
      actor with its own, a plain `Task { }`, which does not inherit this one, or the main actor, whose \
      thread this call may block; for what comes back from there pass some `patience`); or for something that never happens, as a continuation that is not \
      resumed.
      """
    default:
      """
      ManualExecutor.drive at \(place) does not end: its closure has not ended after \(steps) jobs. \
      Something gives way again and again, as a loop around `Task.yield()` whose condition never holds; \
      if it needs more jobs than that, pass a higher `stepLimit`.
      """
    }
  }
}
