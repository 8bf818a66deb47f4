/// Why something was not done.
struct Refusal: Error, Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible
{
  static let closing: Refusal = "the server is closing"

  let reason: String

  var description: String { reason }

  init(_ reason: String) {
    self.reason = reason
  }

  init(stringLiteral reason: String) {
    self.reason = reason
  }
}
