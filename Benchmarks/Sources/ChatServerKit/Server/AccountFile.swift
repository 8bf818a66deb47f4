import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads the accounts of a server from a file: a line for each, `member NAME PASSWORD` or `admin NAME PASSWORD`.
///
/// Passwords have no other way in: arguments are seen by everybody on the machine. So it refuses a file that others may
/// read, and what it says of a bad line has no word of it.
enum AccountFile {
  private static let longest = 1 << 20

  static func accounts(at path: String) throws -> [Account] {
    try accounts(in: contents(of: path), of: path)
  }

  static func accounts(in text: String, of path: String) throws -> [Account] {
    var accounts: [Account] = []
    var names: Set<String> = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.isEmpty || line.hasPrefix("#") { continue }
      func problem(_ text: String) -> ValidationError {
        ValidationError("\(path), line \(number + 1): \(text)")
      }
      let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard words.count == 3, let role = roles[String(words[0])], !words[2].isEmpty else {
        throw problem("a line is member NAME PASSWORD, or admin NAME PASSWORD.")
      }
      guard let name = try? Names.user(String(words[1])) else {
        throw problem(
          "a name has at most \(Names.longest) letters, digits, \"-\", \"_\" and \".\".")
      }
      guard String(words[2]).harmless == words[2] else {
        throw problem("the password of \(name) has a character that nobody sees.")
      }
      guard names.insert(name.lowercased()).inserted else {
        throw problem("there are two users called \(name.lowercased()).")
      }
      accounts.append(Account(name: name, password: String(words[2]), role: role))
    }
    return accounts
  }

  private static let roles: [String: User.Role] = ["member": .member, "admin": .administrator]

  private static func contents(of path: String) throws -> String {
    // A pipe that nobody writes would keep `open` until somebody does.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      throw ValidationError("Cannot read \(path): \(String(cString: strerror(errno))).")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ValidationError("\(path) is no file.")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw ValidationError("Others may read or write \(path): chmod 600 it.")
    }
    guard status.st_size <= longest else { throw ValidationError("\(path) is too long.") }
    var bytes = [UInt8](repeating: 0, count: longest)
    var count = 0
    while count < bytes.count {
      let next = bytes.withUnsafeMutableBytes {
        read(file, $0.baseAddress! + count, $0.count - count)
      }
      if next < 0, errno == EINTR { continue }
      guard next >= 0 else {
        throw ValidationError("Cannot read \(path): \(String(cString: strerror(errno))).")
      }
      if next == 0 { break }
      count += next
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
