/// Who somebody says to be.
struct Credentials: Sendable, Equatable {
  let name: String
  let password: Secret?

  init(name: String, password: String?) {
    self.name = name
    self.password = password.map(Secret.init)
  }
}
