/// A user with a password.
package struct Account: Sendable {
  let user: User
  let password: Secret

  package init(name: String, password: String, role: User.Role) {
    user = User(name: name, role: role)
    self.password = Secret(password)
  }
}
