/// Knows those who have a password, whether they write their names in capitals or not.
final class Registrar: ServerExtension, Authenticator {
  let name = "registrar"
  let options = ExtensionOptions(priority: 10)
  private let accounts: [String: Account]

  init(_ accounts: [Account]) {
    self.accounts = Dictionary(accounts.map { ($0.user.name.lowercased(), $0) }) { $1 }
  }

  /// A "no" for a wrong password; no answer for a name that is not registered.
  func user(for credentials: Credentials) async -> Answer<User>? {
    guard let account = accounts[credentials.name.lowercased()] else { return nil }
    return account.password == credentials.password ? .yes(account.user) : .no
  }
}
