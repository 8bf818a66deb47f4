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

  private static func accounts(in bytes: [UInt8], of path: String) throws -> [Account] {
    var accounts: [Account] = []
    // With the lines that they are in.
    var names: [String: Int] = [:]
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, bytes) in zip(1..., lines) {
      func problem(_ text: String) -> ValidationError {
        ValidationError("\(path), line \(number): \(text)")
      }
      // What stands for a bad character would be the same as any other that a client may write.
      guard let line = String(validating: bytes, as: UTF8.self),
        !line.unicodeScalars.contains("\u{FFFD}")
      else {
        throw problem("it is not UTF-8, or has a sign that stands for what is not.")
      }
      if line.isEmpty || line.hasPrefix("#") { continue }
      let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard words.count == 3, let role = roles[String(words[0])], !words[2].isEmpty else {
        throw problem("a line is member NAME PASSWORD, or admin NAME PASSWORD.")
      }
      guard let name = try? Names.user(String(words[1])) else {
        throw problem(
          "a name has at most \(Names.longest) letters, digits, \"-\", \"_\" and \".\".")
      }
      guard String(words[2]).harmless == words[2] else {
        throw problem("the password has a character that nobody sees.")
      }
      if let former = names.updateValue(number, forKey: name.lowercased()) {
        throw problem("its user has the name of the one in line \(former).")
      }
      accounts.append(Account(name: name, password: String(words[2]), role: role))
    }
    return accounts
  }

  private static let roles: [String: User.Role] = ["member": .member, "admin": .administrator]

  private static func contents(of path: String) throws -> [UInt8] {
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
    return Array(bytes[..<count])
  }
}
