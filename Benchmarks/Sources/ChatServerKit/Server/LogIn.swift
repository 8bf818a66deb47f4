import ArgumentParser

/// A name and a password, as on the command line.
struct LogIn: Sendable {
  let name: String
  let password: String

  /// Reads `NAME:PASSWORD`.
  ///
  /// - Throws: what is wrong with it, if nobody could log in so.
  init(_ argument: String) throws {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw ValidationError("There is no \":\" between name and password.")
    }
    do throws(Refusal) {
      name = try Names.user(String(parts[0]))
    } catch {
      throw ValidationError(error.reason)
    }
    password = String(parts[1])
    guard !password.isEmpty else { throw ValidationError("\(name) has an empty password.") }
    guard password.harmless == password, password.last != "\r" else {
      throw ValidationError("The password of \(name) has a control character in it.")
    }
  }
}
