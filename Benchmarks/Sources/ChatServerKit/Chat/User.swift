/// Who somebody has shown to be.
package struct User: Sendable, Hashable {
  /// What a user may do.
  package enum Role: Sendable {
    case guest, member, administrator
  }

  package let name: String
  package let role: Role
}
