/// What is known of somebody who logs in.
enum Recognition: Sendable, Equatable {
  case known(User)
  /// Nobody knows the name.
  case unknown
  /// The name is an account's, and the password another one.
  case refused
  /// Somebody who may know the name has not said so: it was not there, or late.
  case undecided(missing: String)
}
