import Delegation
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@testable import DelegationAdapters

/// A hub with a page, and how often the page has asked for the hub.
final class PageStage: Sendable {
  let watch = HubWatch()
  let hub: DelegateHub
  let samples = Atomic(0)

  init() {
    let watch = watch
    hub = DelegateHub(.init(onIncident: { watch.note($0) }, interceptors: [watch]))
  }

  /// Serves the page for as long as the body takes, then shuts down gracefully.
  func run(
    _ change: (inout HubPageService.Configuration) -> Void = { _ in },
    patience: PageHandler.Patience = PageHandler.Patience(),
    _ body: (Int, HubPageService) async throws -> Void
  ) async throws {
    var configuration = HubPageService.Configuration()
    configuration.interval = .milliseconds(5)
    // Longer than any test, if it is not about that.
    configuration.historyInterval = .seconds(3600)
    change(&configuration)
    let (ports, listening) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let service = HubPageService(
      configuration, watch: watch, logger: logger, onListening: { listening.yield($0) }
    ) {
      self.samples.add(1, ordering: .relaxed)
      return [("the hub", self.hub)]
    }
    let page = service.with(patience)
    try await testGracefulShutdown { trigger in
      async let run: Void = page.run()
      var iterator = ports.makeAsyncIterator()
      let port = await iterator.next()
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(try #require(port), page))
      } catch {
        result = .failure(error)
      }
      trigger.triggerGracefulShutdown()
      try await run
      try result.get()
    }
  }
}

extension HubPageService {
  /// The same service, whose connections have these times.
  fileprivate func with(_ patience: PageHandler.Patience) -> HubPageService {
    var copy = self
    copy.patience = patience
    return copy
  }
}
