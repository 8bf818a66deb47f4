extension DelegateHub {
  /// One subscriber's own result of ``DelegateHub/collect(_:within:_:)``.
  public struct Reply<Value: Sendable>: Sendable {
    /// The subscriber's type, and the id it was subscribed with.
    public let subscriber: String
    /// What its handler returned or threw; ``ReplyError/timedOut`` if it was late.
    public let result: Result<Value, any Error>

    @usableFromInline
    init(subscriber: String, result: Result<Value, any Error>) {
      self.subscriber = subscriber
      self.result = result
    }
  }
}

/// Why there is no result of a subscriber's own.
public struct ReplyError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Code {
    case timedOut
  }

  private let code: Code

  /// The subscriber had not answered at the deadline.
  public static let timedOut = ReplyError(code: .timedOut)

  /// What went wrong, in words.
  public var description: String {
    switch code {
    case .timedOut: "the subscriber had not answered at the deadline"
    }
  }
}
