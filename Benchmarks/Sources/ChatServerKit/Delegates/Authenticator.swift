/// Somebody who may know who somebody is.
///
/// They are asked one after another until one knows. One that has been asked once has to be asked each time before
/// those of lower priority count: while it is exchanged, hangs or has died, nobody gets the name that it would keep.
protocol Authenticator: ServerExtension {
  /// The user; `nil` if this one cannot say.
  func user(for credentials: Credentials) async -> Answer<User>?
}

/// An answer that ends the asking, be it a "no".
enum Answer<Value: Sendable>: Sendable {
  case yes(Value)
  case no
}
