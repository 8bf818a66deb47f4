/// What is known of somebody who logs in.
enum Recognition: Sendable, Equatable {
  case known(User)
  /// Nobody knows the name, or the password is another one.
  case unknown
  /// Somebody who may know the name has not said so: it was not there, or late.
  case undecided
}
