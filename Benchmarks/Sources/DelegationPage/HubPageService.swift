public import Delegation
import FlyingFox
import FlyingSocks
import Foundation
public import ServiceLifecycle

/// Serves a page that shows hubs while they run: what is wrong, since when, for whom and why, then each subscriber.
///
/// `/json` has a ``PageState``, for scripts. The page asks for it every second while it is visible.
///
/// Whoever can connect can read it: names of types and ids, places in the source, and the texts of errors. So it listens
/// on the loopback address unless told otherwise. There it answers only requests whose `Host` is that, so that no other
/// site can read it through a browser.
///
/// List it in a `ServiceGroup` before what drains the hubs: then it is stopped later, and shows the drain.
public struct HubPageService: Service {
  private let page: HubPage
  private let host: String
  private let port: UInt16
  private let needs: [HubPage.Need]
  private let onListening: @Sendable (Int) -> Void
  private let hubs: @Sendable () -> [(name: String, hub: DelegateHub)]

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - page: what the hubs report to.
  ///   - host: the IPv4 address to listen on.
  ///   - port: the port; 0 for any that is free.
  ///   - needs: the protocols to which somebody has to be subscribed.
  ///   - onListening: is told the port.
  ///   - hubs: the hubs that there are at a time, each with a name to show.
  public init(
    _ page: HubPage, host: String = "127.0.0.1", port: Int = 0, needs: [HubPage.Need] = [],
    onListening: @escaping @Sendable (Int) -> Void = { _ in },
    hubs: @escaping @Sendable () -> [(name: String, hub: DelegateHub)]
  ) {
    self.page = page
    self.host = host
    self.port = UInt16(clamping: port)
    self.needs = needs
    self.onListening = onListening
    self.hubs = hubs
  }

  /// Serves until the group shuts down.
  ///
  /// - Throws: an error of the socket if it cannot listen there.
  public func run() async throws {
    let server = HTTPServer(
      address: try .inet(ip4: host, port: port), timeout: 10, logger: .disabled)
    await server.appendRoute("GET /") { _ in
      Self.response("text/html; charset=utf-8", Data(PackageResources.page_html))
    }
    await server.appendRoute("GET /json") { request in
      guard isAllowed(request) else { return HTTPResponse(statusCode: .forbidden) }
      for need in needs { page.note(need: need.name, isMet: need.isMet()) }
      return Self.response("application/json", try JSONEncoder().encode(page.look(at: hubs())))
    }
    await server.appendRoute("POST /seen") { request in
      // A form of another site cannot set a header.
      guard isAllowed(request), request.headers[HTTPHeader("X-Page")] != nil else {
        return HTTPResponse(statusCode: .forbidden)
      }
      page.acknowledge()
      return HTTPResponse(statusCode: .noContent)
    }
    try await withThrowingDiscardingTaskGroup { group in
      for need in needs {
        group.addTask { [page] in
          await need.follow { page.note(need: need.name, isMet: $0) }
        }
      }
      group.addTask { [onListening] in
        try await server.waitUntilListening()
        if case .ip4(_, let port) = await server.listeningAddress { onListening(Int(port)) }
      }
      try await cancelWhenGracefulShutdown {
        do {
          try await server.run()
        } catch  where Task.isCancelled {
          // That is how it ends.
        }
      }
      group.cancelAll()
    }
  }

  /// Whether a request comes from a page of this server, or from a script, and not from another site's page.
  private func isAllowed(_ request: HTTPRequest) -> Bool {
    guard host.hasPrefix("127.") else { return true }
    let name = request.headers[.host].map { $0.prefix { $0 != ":" } } ?? ""
    return name == "localhost" || name == host
  }

  private static func response(_ type: String, _ data: Data) -> HTTPResponse {
    HTTPResponse(
      statusCode: .ok,
      headers: [
        .contentType: type, .cacheControl: "no-store",
        HTTPHeader("Content-Security-Policy"):
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
      ], body: data)
  }
}
