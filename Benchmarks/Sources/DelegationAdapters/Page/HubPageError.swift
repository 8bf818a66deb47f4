/// Why a page cannot be served.
public struct HubPageError: Error, CustomStringConvertible {
  /// What was wrong, and what to do.
  public let description: String
}
