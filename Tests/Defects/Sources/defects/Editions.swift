import Delegation

// What has other names in the first edition.
#if FIRST_EDITION
  extension DelegateHub {
    nonisolated func notifyAndWait<P>(
      _ protocol: P.Type,
      _ body: nonisolated(nonsending) @escaping @Sendable (P) async throws -> Void
    ) async {
      await deliver(`protocol`, body)
    }

    nonisolated func subscriberCount<P>(of protocol: P.Type) async -> Int {
      await count(of: `protocol`)
    }
  }
#else
  typealias Subscription = DelegateHub.Subscription
#endif
