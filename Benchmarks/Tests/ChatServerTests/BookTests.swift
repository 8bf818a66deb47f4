import CoreMetrics
import Delegation
import DelegationAdapters
import Testing
import Tracing

@Suite("Metrics and spans that one can look at", .timeLimit(.minutes(5)))
struct BookTests {
  private struct Torn: Error {}

  @Test("metrics are lines that Prometheus reads")
  func metrics() {
    let book = MetricsBook()
    let dimensions = [("protocol", "A.B"), ("odd name", "a\"b\\c\nd")]
    Counter(label: "shop.orders", factory: book).increment(by: 2)
    Counter(label: "shop.orders", dimensions: dimensions, factory: book).increment()
    Meter(label: "1st", factory: book).set(1.5)
    let timer = Timer(label: "took", factory: book)
    timer.recordNanoseconds(1_000_000_000)
    timer.recordNanoseconds(500_000_000)
    #expect(
      book.text == """
        _1st 1.5
        shop_orders 2
        shop_orders{protocol="A.B",odd_name="a\\"b\\\\c\\nd"} 1
        took_count 2
        took_longest 1.0
        took_sum 1.5

        """)
  }

  @Test("a counter that is full stays so")
  func overflow() {
    let book = MetricsBook()
    let counter = Counter(label: "many", factory: book)
    counter.increment(by: Int64.max)
    counter.increment(by: 1)
    #expect(book.lines == ["many \(Int64.max)"])
  }

  @Test("spans stand below what caused them, with their attributes and errors")
  func spans() {
    let book = SpanBook()
    #expect(book.text == "no span has ended\n")
    try? book.withSpan("order") { span in
      span.attributes["number"] = 7
      book.withSpan("vote") { $0.attributes["subscriber"] = "Stock" }
      try book.withSpan("mail") { _ in throw Torn() }
    }
    let open = book.startSpan("open")
    let lines = book.text.split(separator: "\n").map {
      // Without the time that it took.
      $0.replacing(/\ \ [\d.e-]+ seconds/, with: "")
    }
    #expect(
      lines == [
        "order  number=7  error: Torn()", "  vote  subscriber=Stock", "  mail  error: Torn()",
      ])
    #expect(open.isRecording)
    open.end()
    open.end()
    #expect(!open.isRecording)
    #expect(book.text.split(separator: "\n").count == 4)
  }

  @Test("only the last spans are kept; one whose cause is not among them stands by itself")
  func limit() {
    let book = SpanBook(limit: 2)
    func lines() -> [String] {
      book.text.split(separator: "\n").map {
        String($0.replacing(/\ \ [\d.e-]+ seconds/, with: ""))
      }
    }
    for number in 1...3 { book.startSpan("\(number)").end() }
    #expect(lines() == ["3", "2"])
    book.withSpan("cause") { _ in
      for number in 4...5 { book.startSpan("\(number)").end() }
      #expect(lines() == ["5", "4"])
    }
    #expect(lines() == ["cause", "  5"])
  }

  private protocol Gate: AnyObject, Sendable {
    func mayPass() async -> Bool
  }
  private final class Open: Gate {
    func mayPass() async -> Bool { true }
  }

  @Test("a page shows the program's own texts, a hub's spans and metrics among them")
  func texts() async throws {
    let (spans, metrics) = (SpanBook(), MetricsBook())
    let hub = DelegateHub(
      .init(interceptors: [
        TracingInterceptor(spans), MetricsInterceptor(named: "shop", factory: metrics),
      ]))
    let gate = Open()
    hub.subscribe(gate, to: (any Gate).self)
    #expect(await hub.vote((any Gate).self) { await $0.mayPass() })
    func change(_ configuration: inout HubPageService.Configuration) {
      configuration.texts = ["/spans": { spans.text }, "/metrics": { metrics.text }]
    }
    try await PageStage().run(change) { port, _ in
      for (path, text) in [
        ("/metrics", "shop_handler_duration_count{"), ("/spans?all", "delegation.subscriber="),
      ] {
        var looker = try await Looker.asking(path, of: port)
        let answer = await looker.rest()
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains("text/plain; charset=utf-8"))
        #expect(answer.contains(text), "\(answer)")
      }
      var looker = try await Looker(port: port)
      try await looker.write(
        "GET /spans HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.com\r\n\r\n")
      #expect(await looker.rest().hasPrefix("HTTP/1.1 403"), "another site's page may not look")
      looker = try await Looker.asking("/x", of: port)
      #expect(await looker.rest().contains("there is only /, /events, /json, /metrics, /spans"))
    }
  }
}
