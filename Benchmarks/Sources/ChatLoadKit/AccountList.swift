import Foundation

/// A file of accounts that only this user can read, for a server to be started with.
package struct AccountList: Sendable {
  private let file: URL

  /// The arguments that name it.
  package var arguments: [String] { ["--accounts", file.path] }

  package init(_ lines: [String]) throws {
    file = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID())")
    let text = lines.map { $0 + "\n" }.joined()
    guard
      FileManager.default.createFile(
        atPath: file.path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw LoadError("cannot write \(file.path)") }
  }

  package func remove() {
    try? FileManager.default.removeItem(at: file)
  }
}
