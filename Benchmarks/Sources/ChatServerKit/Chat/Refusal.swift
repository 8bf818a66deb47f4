/// Why something was not done.
struct Refusal: Error, Sendable, Hashable, ExpressibleByStringInterpolation {
  static let closing: Refusal = "the server is closing"

  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }

  init(stringLiteral reason: String) {
    self.reason = reason
  }
}
