/// Hears what it is told, and does with it what the test wants.
final class Hearer: Sendable {
  let body: @Sendable (Int) async throws -> Void

  init(_ body: @escaping @Sendable (Int) async throws -> Void = { _ in }) { self.body = body }
}

protocol Hearing: AnyObject, Sendable {
  func hear(_ number: Int) async throws
}

protocol HearingMore: Hearing {}

extension Hearer: Hearing {
  func hear(_ number: Int) async throws { try await body(number) }
}

final class GoodHearer: HearingMore {
  func hear(_ number: Int) {}
}
