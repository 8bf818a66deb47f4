import NIOHTTP1

/// What becomes of a request, by its head alone.
///
/// A page on the loopback address answers only requests that name it so: a page from elsewhere can have its
/// own name lead to this address, and would be let read everything. Whether a request comes from another
/// site's page is checked for the events as well, each of which would take a viewer's place.
struct PageRules: Sendable {
  enum Answer: Equatable {
    case page
    case events
    /// All figures with their names, once.
    case snapshot
    /// One of the program's own texts, by its path.
    case text(String)
    case refusal(HTTPResponseStatus, String)
  }

  /// Whether the page can be reached from this machine only.
  let isLoopback: Bool
  /// The paths of the program's own texts.
  var texts: Set<String> = []

  func answer(to head: HTTPRequestHead) -> Answer {
    let hosts = head.headers["host"]
    guard hosts.count == 1, let host = hosts.first else {
      return .refusal(.badRequest, "a request has to have one Host")
    }
    if isLoopback, !Self.isLocal(host) {
      return .refusal(.forbidden, "only localhost, 127.0.0.1 and [::1] are answered here")
    }
    let path = head.uri.prefix { $0 != "?" }
    guard head.method == .GET || (head.method == .HEAD && path != "/events") else {
      return .refusal(.methodNotAllowed, "only GET is answered, and HEAD for the page")
    }
    guard !head.headers.contains(name: "transfer-encoding"),
      head.headers["content-length"].allSatisfy({ $0 == "0" })
    else { return .refusal(.payloadTooLarge, "a request may have no body") }
    switch path {
    case "/": return .page
    case let path where path == "/events" || path == "/json" || texts.contains(String(path)):
      guard Self.isOwn(head.headers, host: host) else {
        return .refusal(.forbidden, "another site's page may not look")
      }
      return path == "/events" ? .events : path == "/json" ? .snapshot : .text(String(path))
    default:
      let paths = ["/", "/events", "/json"] + texts.sorted()
      return .refusal(.notFound, "there is only \(paths.joined(separator: ", "))")
    }
  }

  /// Whether a host is this machine by a name that nobody else can give it.
  private static func isLocal(_ host: String) -> Bool {
    let name: Substring
    let port: Substring
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return false }
      name = host[...end]
      port = host[end...].dropFirst()
    } else {
      name = host.prefix { $0 != ":" }
      port = host[name.endIndex...]
    }
    guard port.isEmpty || port.first == ":", port.dropFirst().allSatisfy(\.isWholeNumber) else {
      return false
    }
    return ["localhost", "127.0.0.1", "[::1]"].contains(name.lowercased())
  }

  /// Whether a request comes from the page itself, or from no page at all.
  private static func isOwn(_ headers: HTTPHeaders, host: String) -> Bool {
    let sites = headers["sec-fetch-site"]
    guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return false }
    return headers["origin"].allSatisfy { $0 == "http://\(host)" || $0 == "https://\(host)" }
  }
}
