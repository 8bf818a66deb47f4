/// Who somebody says to be.
struct Credentials: Sendable {
  let name: String
  let password: String?
}
