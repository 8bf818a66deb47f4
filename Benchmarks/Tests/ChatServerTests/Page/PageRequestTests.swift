import NIOCore
import Testing

@testable import DelegationAdapters

@Suite("What the page's service answers, and whom it keeps", .timeLimit(.minutes(5)))
struct PageRequestTests {
  private static let oddRequests: [(String, Int)] = [
    ("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", 403),
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: localhost.example.com:80\r\n\r\n", 403),
    ("GET http://example.com/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n", 405),
    ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    ("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 413),
    ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405),
    ("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ("GET /events HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403),
    ("\u{16}\u{3}\u{1}nonsense\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 9000))\r\n\r\n", 431),
    ("GET /\(String(repeating: "x", count: 20_000))", 431),
  ]

  @Test("odd requests are refused, and the connection is closed", arguments: oddRequests)
  func odd(_ request: String, status: Int) async throws {
    try await PageStage().run { port, _ in
      var looker = try await Looker(port: port)
      try await looker.write(request)
      let answer = await looker.rest()
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      #expect(answer.contains("Connection: close\r\n"))
    }
  }

  @Test("to HEAD it answers with a head, refused or not", arguments: [("/", 200), ("/x", 404)])
  func head(_ path: String, status: Int) async throws {
    try await PageStage().run { port, _ in
      var looker = try await Looker(port: port)
      try await looker.write("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let answer = await looker.rest()
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
      #expect(answer.contains("\r\nContent-Length: "))
      #expect(answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("one request is answered, whatever comes behind it")
  func pipelining() async throws {
    try await PageStage().run { port, _ in
      var looker = try await Looker(port: port)
      let request = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
      try await looker.write(request + request)
      let answer = await looker.rest()
      #expect(answer.ranges(of: "HTTP/1.1").count == 1)
    }
  }

  @Test("who connects and says nothing is disconnected after a time")
  func silence() async throws {
    var patience = PageHandler.Patience()
    patience.request = .milliseconds(50)
    try await PageStage().run(patience: patience) { port, _ in
      var silent = try await Looker(port: port)
      #expect(await silent.rest() == "")
      var begun = try await Looker(port: port)
      // On a busy machine it may be disconnected before.
      try? await begun.write("GET / HTTP/1.1\r\nHost: local")
      #expect(await begun.rest() == "")
    }
  }

  @Test("only so many connections that are no viewers are kept, and the oldest gives way")
  func connections() async throws {
    // Nobody is disconnected because of the time.
    var patience = PageHandler.Patience()
    patience.request = .hours(1)
    try await PageStage().run(patience: patience) { port, _ in
      var viewer = try await Looker.asking("/events", of: port)
      try await viewer.event("figures")
      var silent: [any Channel] = []
      for _ in 1...Viewers.otherLimit + 8 {
        silent.append(try await Looker(port: port).channel)
      }
      var looker = try await Looker.asking("/", of: port)
      #expect(await looker.rest().hasPrefix("HTTP/1.1 200"))
      for channel in silent.prefix(4) { try await channel.closeFuture.get() }
      #expect(silent.last?.isActive == true)
      try await viewer.event("figures")
    }
  }
}
