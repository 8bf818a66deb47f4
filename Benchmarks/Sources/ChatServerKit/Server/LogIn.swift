import ArgumentParser

/// A name and a password, as on the command line.
struct LogIn: ExpressibleByArgument {
  let name: String
  let password: String

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    name = String(parts[0])
    password = String(parts[1])
  }
}
