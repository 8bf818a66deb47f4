/// Somebody who may know who somebody is.
///
/// They are asked one after another until one knows. If that takes too long, nobody knows.
protocol Authenticator: AnyObject, Sendable {
  /// The user; `nil` if this one cannot say.
  func user(for credentials: Credentials) async -> Answer<User>?
}

/// An answer that ends the asking, be it a "no".
enum Answer<Value: Sendable>: Sendable {
  case yes(Value)
  case no
}
