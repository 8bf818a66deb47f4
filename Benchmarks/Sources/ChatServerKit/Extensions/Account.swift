/// A user with a password.
package struct Account: Sendable {
  let user: User
  let password: String

  package init(name: String, password: String, role: User.Role) {
    user = User(name: name, role: role)
    self.password = password
  }
}
