/// Lets in those whom nobody else knows, as guests.
///
/// Asked after the registrar, without which nobody is taken for a guest.
final class Guests: ServerExtension, Authenticator {
  let name = "guests"
  let options = ExtensionOptions(priority: -10)

  func user(for credentials: Credentials) async -> Answer<User>? {
    credentials.password == nil ? .yes(User(name: credentials.name, role: .guest)) : nil
  }
}
