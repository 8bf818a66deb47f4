import Delegation
import NIOCore
import NIOHTTP1
import Testing

@testable import DelegationAdapters

@Suite("The page's values")
struct PageValueTests {
  @Test("JSON is one line, whatever the texts are, and closes what it opens")
  func json() {
    var json = JSONText()
    json.object { json in
      json.name("a")
      json.numbers([0, -1, 12])
      json.name("b")
      json.text("\"<b>\\\u{1F}\n\r\u{2028}\u{202E}ü🙂")
      json.name("c")
      json.array { json in
        json.array { _ in }
        json.object { _ in }
      }
    }
    let replaced = String(repeating: "\u{FFFD}", count: 5)
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"a":[0,-1,12],"b":"\"<b>\\"# + replaced + #"ü🙂","c":[[],{}]}"#)
  }

  @Test("a text of any length is cut")
  func longText() {
    var json = JSONText()
    json.text(String(repeating: "x", count: 100_000))
    #expect(json.bytes.count == JSONText.longestText + "\"…\"".utf8.count)
  }

  @Test("durations fall into buckets of which each is twice as wide as the one before")
  func histogram() {
    for (duration, bucket) in [
      (Duration.nanoseconds(-5), 0), (.zero, 0), (.nanoseconds(999), 0), (.microseconds(1), 1),
      (.microseconds(2), 2), (.microseconds(3), 2), (.microseconds(4), 3), (.milliseconds(1), 10),
      (.seconds(1), 20), (.seconds(67), 26), (.seconds(68), 27), (.seconds(1 << 60), 27),
    ] { #expect(DurationHistogram.bucket(of: duration) == bucket, "\(duration)") }
    var histogram = DurationHistogram()
    histogram.add(.microseconds(3))
    histogram.add(.microseconds(2))
    #expect(histogram.counts.count == DurationHistogram.bucketCount)
    #expect(histogram.counts[2] == 2)
    #expect(histogram.counts.reduce(0, +) == 2)
  }

  private static func head(
    _ method: HTTPMethod = .GET, _ uri: String = "/", _ headers: (String, String)...
  ) -> HTTPRequestHead {
    HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: HTTPHeaders(headers))
  }

  private static func status(
    _ head: HTTPRequestHead, isLoopback: Bool = true
  ) -> HTTPResponseStatus {
    switch PageRules(isLoopback: isLoopback).answer(to: head) {
    case .page, .events, .snapshot, .text: .ok
    case .refusal(let status, _): status
    }
  }

  @Test(
    "on the loopback address only its own names are answered",
    arguments: [
      ("localhost", true), ("localhost:80", true), ("LocalHost:7001", true), ("127.0.0.1", true),
      ("127.0.0.1:1", true), ("[::1]", true), ("[::1]:7001", true),
      ("example.com", false), ("localhost.example.com", false), ("127.0.0.1.example.com", false),
      ("127.0.0.1:80@example.com", false), ("[::1", false), ("[::1]x", false), ("", false),
      ("localhost:x", false), ("0.0.0.0", false),
    ])
  func hosts(_ host: String, isAnswered: Bool) {
    #expect(Self.status(Self.head(.GET, "/", ("Host", host))) == (isAnswered ? .ok : .forbidden))
    #expect(Self.status(Self.head(.GET, "/", ("Host", host)), isLoopback: false) == .ok)
  }

  @Test("a request has one host, is a GET without a body, and names what there is")
  func requests() {
    let host = ("Host", "localhost")
    #expect(Self.status(Self.head()) == .badRequest)
    #expect(Self.status(Self.head(.GET, "/", host, host)) == .badRequest)
    for method in [HTTPMethod.POST, .PUT, .OPTIONS, .DELETE, .RAW(value: "X")] {
      #expect(Self.status(Self.head(method, "/", host)) == .methodNotAllowed)
    }
    #expect(Self.status(Self.head(.GET, "/", host, ("Content-Length", "0"))) == .ok)
    #expect(Self.status(Self.head(.GET, "/", host, ("Content-Length", "1"))) == .payloadTooLarge)
    #expect(
      Self.status(Self.head(.GET, "/", host, ("Transfer-Encoding", "chunked"))) == .payloadTooLarge)
    #expect(Self.status(Self.head(.GET, "/?x=1", host)) == .ok)
    for uri in ["/x", "//", "/events/", "http://localhost/", "*", ""] {
      #expect(Self.status(Self.head(.GET, uri, host)) == .notFound)
    }
  }

  @Test("events and figures are for the page itself, and for programs")
  func origins() {
    let host = ("Host", "localhost:7001")
    func status(_ headers: (String, String)...) -> HTTPResponseStatus {
      let answers = ["/events", "/json"].map { path in
        var head = Self.head(.GET, path, host)
        head.headers.add(contentsOf: headers)
        return Self.status(head)
      }
      #expect(answers[0] == answers[1])
      return answers[0]
    }
    #expect(status() == .ok)
    #expect(status(("Sec-Fetch-Site", "same-origin")) == .ok)
    #expect(status(("Sec-Fetch-Site", "none")) == .ok)
    #expect(status(("Sec-Fetch-Site", "cross-site")) == .forbidden)
    #expect(status(("Sec-Fetch-Site", "same-site")) == .forbidden)
    #expect(status(("Origin", "http://localhost:7001")) == .ok)
    #expect(status(("Origin", "http://localhost:8000")) == .forbidden)
    #expect(status(("Origin", "null")) == .forbidden)
  }

  @Test("who has had the frame before gets what is new, anybody else all, and nothing without it")
  func frames() {
    let (news, all, figures) = ("n", "a", "f")
    func frame(_ number: Int, withAll: Bool) -> Frame {
      Frame(
        number: number, news: ByteBuffer(string: news),
        all: withAll ? ByteBuffer(string: all) : nil, figures: ByteBuffer(string: figures))
    }
    func texts(_ number: Int, withAll: Bool, after last: Int?) -> [String]? {
      frame(number, withAll: withAll).buffers(after: last)?.map { String(buffer: $0) }
    }
    #expect(texts(7, withAll: false, after: 6) == ["n", "f"])
    #expect(texts(7, withAll: false, after: 5) == nil)
    #expect(texts(7, withAll: true, after: 5) == ["a", "f"])
    #expect(texts(1, withAll: true, after: nil) == ["a", "f"])
    #expect(texts(1, withAll: false, after: nil) == nil)
  }

  @Test("an event is a name and one line of data")
  func event() {
    var json = JSONText()
    json.text("a\nb")
    #expect(
      String(buffer: Frame.event("figures", json)) == "event: figures\ndata: \"a\u{FFFD}b\"\n\n")
  }

  @Test("the document has its parts, and a number of its own each time, which the policy names")
  func document() throws {
    let document = PageDocument()
    var nonces: Set<String> = []
    for _ in 1...3 {
      let (buffer, policy) = document.rendered()
      let text = String(buffer: buffer)
      #expect(!text.contains("{{"))
      #expect(text.contains("new EventSource(\"events\")"))
      #expect(text.contains("prefers-color-scheme"))
      // Nothing from elsewhere: a namespace is a name.
      let links = text.replacing("http://www.w3.org/2000/svg", with: "")
      for word in ["http://", "https://", "@import"] { #expect(!links.contains(word)) }
      let nonce = try #require(text.firstMatch(of: /<script nonce="(\w+)">/)?.1)
      #expect(policy.1.contains("script-src 'nonce-\(nonce)'"))
      #expect(text.contains("<style nonce=\"\(nonce)\">"))
      nonces.insert(String(nonce))
    }
    #expect(nonces.count == 3)
  }
}
