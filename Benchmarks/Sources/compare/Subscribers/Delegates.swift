/// What subscribers are asked about and told of.
struct Request: Sendable {
  /// Which one it is.
  let id: Int
  /// How much work it is.
  let units: Int
}

/// A delegate that is asked.
protocol Gatekeeper: AnyObject, Sendable {
  /// Answers whether the request may be performed.
  ///
  /// - Parameter request: which one.
  /// - Returns: whether it may.
  func mayPerform(_ request: Request) async -> Bool
}

/// A delegate that is asked, and answers at once.
protocol PromptGatekeeper: AnyObject, Sendable {
  /// Answers whether the request may be performed.
  ///
  /// - Parameter request: which one.
  /// - Returns: whether it may.
  func allows(_ request: Request) -> Bool
}

/// A delegate that is told.
protocol Listener: AnyObject, Sendable {
  /// Learns that the request was performed.
  ///
  /// - Parameter request: which one.
  func didPerform(_ request: Request)
}

/// A delegate that is told and may take its time.
protocol AsyncListener: AnyObject, Sendable {
  /// Learns that the request was performed.
  ///
  /// - Parameter request: which one.
  func didPerform(_ request: Request) async
}
