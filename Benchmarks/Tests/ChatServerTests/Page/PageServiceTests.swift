import Delegation
import Foundation
import Logging
import NIOCore
import Synchronization
import Testing

@testable import ChatServerKit
@testable import DelegationAdapters

@Suite("The page's service", .timeLimit(.minutes(5)))
struct PageServiceTests {
  private protocol Listener: AnyObject, Sendable {
    func hear(_ number: Int) async throws
  }

  private struct Bad: Error, CustomStringConvertible {
    var description: String { "<script>alert(1)</script>\nevent: figures" }
  }

  private final class Ear: Listener {
    func hear(_ number: Int) async throws {
      if number < 0 { throw Bad() }
    }
  }

  @Test("it serves a page that a browser keeps to itself")
  func page() async throws {
    try await PageStage().run { port, _ in
      var looker = try await Looker.asking("/", of: port)
      let text = await looker.rest()
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      for header in [
        "Content-Type: text/html; charset=utf-8", "Content-Security-Policy: default-src 'none'",
        "X-Content-Type-Options: nosniff", "Cache-Control: no-store", "Connection: close",
      ] { #expect(text.contains("\r\n\(header)"), "\(header)") }
      #expect(text.hasSuffix("</html>\n"))
      // What it is sent it shows as text, never as elements.
      #expect(text.contains("textContent"))
      for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"] {
        #expect(!text.contains(word), "\(word)")
      }
    }
  }

  @Test("its events have the figures of each subscriber, and texts that are only texts")
  func events() async throws {
    let stage = PageStage()
    let ear = Ear()
    stage.hub.subscribe(ear, to: (any Listener).self, id: "<b>\n")
    try await stage.run { port, _ in
      var looker = try await Looker.asking("/events", of: port)
      let head = try await looker.read(upTo: "\r\n\r\n")
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(head.contains("Content-Type: text/event-stream\r\n"))
      let texts = try await looker.event("texts")
      #expect(texts.contains(#"{"all":1,"subscribers":[[0,"#))
      #expect(texts.contains("<b>\u{FFFD}"))
      #expect(texts.contains("PageServiceTests.swift:"))
      #expect(try await looker.event("figures").contains(#""name":"the hub""#))
      for number in [1, 2, -1] {
        stage.hub.notify((any Listener).self) { try await $0.hear(number) }
      }
      await stage.hub.drain()
      // What failed is an incident; its text does not end the event.
      let news = try await looker.event("texts")
      #expect(
        news.contains(
          #"{"all":0,"subscribers":[],"history":[],"incidents":[{"number":0,"count":1,"#))
      #expect(news.contains(#""error":"<script>alert(1)</script>\#u{FFFD}event: figures""#))
      while true {
        let figures = try await looker.event("figures")
        // Number, whether it is subscribed, handlers, how many have been timed and for how long, 99 % of them; handled, failed and so on.
        guard figures.contains(/"rows":\[\[0,1,0,0,0,\d+,2,1,0,0,0,0,0,0,0,0\]\]/) else { continue }
        #expect(figures.contains(#""times":[{"name":"#))
        break
      }
    }
    withExtendedLifetime(ear) {}
  }

  @Test("what the program itself says is wrong goes to viewers and to scripts")
  func troubles() async throws {
    let start = ContinuousClock.now
    let change = { @Sendable (page: inout HubPageService.Configuration) in
      page.troubles = { [.init("moderator", "is missing", since: start - .seconds(5))] }
    }
    try await PageStage().run(change) { port, _ in
      let expected = /"troubles":\[{"who":"moderator","what":"is missing","age":\d{4,}}\]/
      var looker = try await Looker.asking("/events", of: port)
      #expect(try await looker.event("figures").contains(expected))
      var script = try await Looker.asking("/json", of: port)
      #expect(await script.rest().contains(expected))
    }
  }

  @Test("one that dies is gone from the figures, and a newcomer's texts come once")
  func comingAndGoing() async throws {
    let stage = PageStage()
    try await stage.run { port, _ in
      var looker = try await Looker.asking("/events", of: port)
      try await looker.read(upTo: "event: figures")
      do {
        let ear = Ear()
        stage.hub.subscribe(ear, to: (any Listener).self)
        #expect(try await looker.event("texts").contains(#""subscribers":[[0,"#))
        while try await !looker.event("figures").contains(#""size":1"#) {}
        withExtendedLifetime(ear) {}
      }
      // A dead one is noticed at the next call.
      stage.hub.notify((any Listener).self) { try await $0.hear(1) }
      while try await !looker.event("figures").contains(#""size":0"#) {}
      #expect(!looker.text.contains("subscribers\":[["))
    }
  }

  @Test("nothing is sampled until somebody looks, once for all, and not when all have gone")
  func samples() async throws {
    let stage = PageStage()
    try await stage.run { port, page in
      var visitor = try await Looker.asking("/", of: port)
      _ = await visitor.rest()
      #expect(stage.samples.load(ordering: .relaxed) == 0)
      var lookers: [Looker] = []
      for _ in 1...4 { lookers.append(try await Looker.asking("/events", of: port)) }
      for index in lookers.indices { try await lookers[index].event("figures") }
      // One that comes when all are there.
      let last = try await lookers[3].event("figures")
      let time = try #require(last.firstMatch(of: /"time":\d+/)?.0)
      // The others are sent the same one.
      for index in lookers.indices.dropLast() {
        while try await !lookers[index].event("figures").contains(time) {}
      }
      for looker in lookers { try await looker.close() }
      // Until the sample that was under way is over.
      while page.viewers.count > 0 || stage.watch.isLooking { await Task.yield() }
      let before = stage.samples.load(ordering: .relaxed)
      for _ in 0..<1000 { await Task.yield() }
      #expect(stage.samples.load(ordering: .relaxed) == before)
      // It begins again for the next one, with all texts.
      var looker = try await Looker.asking("/events", of: port)
      #expect(try await looker.event("texts").contains(#""all":1"#))
      #expect(stage.samples.load(ordering: .relaxed) > before)
    }
  }

  @Test(
    "there are no more viewers than may be: for a further one the oldest has to go, and is told so")
  func limit() async throws {
    try await PageStage().run({ $0.viewerLimit = 2 }) { port, page in
      var lookers: [Looker] = []
      for _ in 1...2 {
        var looker = try await Looker.asking("/events", of: port)
        try await looker.event("figures")
        lookers.append(looker)
      }
      var third = try await Looker.asking("/events", of: port)
      try await third.event("figures")
      #expect(page.viewers.count == 2)
      #expect(await lookers[0].rest().contains("event: replaced\n"))
      try await lookers[1].event("figures")
      try await lookers[1].close()
      while page.viewers.count > 1 { await Task.yield() }
      var fourth = try await Looker.asking("/events", of: port)
      try await fourth.event("figures")
      try await third.event("figures")
    }
  }

  @Test("scripts get the same figures with names, and the sums of the last hour")
  func snapshot() async throws {
    let stage = PageStage()
    let ear = Ear()
    stage.hub.subscribe(ear, to: (any Listener).self, mailbox: .dropNewest(limit: 1))
    for number in [1, -1] { stage.hub.notify((any Listener).self) { try await $0.hear(number) } }
    await stage.hub.drain()
    stage.hub.unsubscribe(ear)
    try await stage.run({ $0.historyInterval = .milliseconds(1) }) { port, _ in
      while true {
        var looker = try await Looker.asking("/json", of: port)
        let text = await looker.rest()
        let body = try #require(text.firstRange(of: "\r\n\r\n"))
        let all = try #require(
          try JSONSerialization.jsonObject(with: Data(text[body.upperBound...].utf8))
            as? [String: Any])
        let hub = try #require((all["hubs"] as? [[String: Any]])?.first)
        let part = try #require((hub["protocols"] as? [[String: Any]])?.first)
        #expect(part["handled"] as? Int ?? 0 + (part["lost"] as? Int ?? 0) == 1)
        #expect((part["failed"] as? Int ?? 0) + (part["lost"] as? Int ?? 0) == 1)
        #expect(text.contains("Content-Type: application/json\r\n"))
        let history = try #require(all["history"] as? [String: Any])
        let rows = try #require(history["rows"] as? [[Int]])
        if rows.isEmpty { continue }
        #expect((history["columns"] as? [String])?.count == rows[0].count)
        break
      }
    }
  }

  @Test("scripts get what 99 of 100 handlers took while somebody looks, and how many may wait")
  func snapshotOfTimes() async throws {
    let stage = PageStage()
    let ear = Ear()
    stage.hub.subscribe(ear, to: (any Listener).self, mailbox: .dropNewest(limit: 7))
    let name = try #require(await stage.hub.statistics().protocols.first?.name)
    try await stage.run({ $0.mailboxLimits = [name: 7] }) { port, _ in
      var viewer = try await Looker.asking("/events", of: port)
      try await viewer.event("figures")
      stage.hub.notify((any Listener).self) { try await $0.hear(1) }
      await stage.hub.drain()
      var looker = try await Looker.asking("/json", of: port)
      let text = await looker.rest()
      #expect(text.contains("\"limit\":7,"), "\(text)")
      #expect(text.contains("\"p99\":"), "\(text)")
    }
    withExtendedLifetime(ear) {}
  }

  @Test("a viewer that takes nothing is sent nothing more, and disconnected after a time")
  func slowViewer() async throws {
    let stage = PageStage()
    let ears = (0..<2000).map { _ in Ear() }
    for ear in ears { stage.hub.subscribe(ear, to: (any Listener).self) }
    var patience = PageHandler.Patience()
    patience.viewer = .milliseconds(300)
    try await stage.run(patience: patience) { port, page in
      var slow = try await Looker.asking("/events", of: port, receiveBuffer: 4096)
      try await slow.event("figures")
      try await slow.channel.setOption(.autoRead, value: false).get()
      var quick = try await Looker.asking("/events", of: port)
      try await quick.event("figures")
      while page.viewers.count > 1 { try await quick.event("figures") }
      // The other has gone on.
      try await quick.event("figures")
      try await slow.close()
    }
    withExtendedLifetime(ears) {}
  }

  @Test("a page's descriptors are not given to clients")
  func pageDescriptors() throws {
    func least(besides page: Int) -> Int? {
      (0..<4096).first { DescriptorLimit.problem(with: 7, besides: page, of: $0) == nil }
    }
    #expect(ServerConfiguration.pageDescriptors(at: nil) == 0)
    let page = ServerConfiguration.pageDescriptors(at: 0)
    #expect(page >= 48)
    #expect(try #require(least(besides: page)) == #require(least(besides: 0)) + page)
  }

  @Test("a graceful shutdown ends the streams of viewers, and who has yet to ask")
  func shutdown() async throws {
    let ends = Mutex<[EventLoopFuture<Void>]>([])
    // The interval is long: it is not waited for.
    try await PageStage().run({ $0.interval = .seconds(3600) }) { port, _ in
      var viewer = try await Looker.asking("/events", of: port)
      try await viewer.event("figures")
      let silent = try await Looker(port: port)
      let all = [viewer.channel.closeFuture, silent.channel.closeFuture]
      ends.withLock { $0 = all }
    }
    for end in ends.withLock({ $0 }) { try await end.get() }
  }

  @Test("a service that is cancelled ends as well")
  func cancellation() async throws {
    let (ports, listening) = AsyncStream<Int>.makeStream()
    let hub = DelegateHub()
    let page = HubPageService(
      logger: Logger(label: "test"), onListening: { listening.yield($0) }
    ) { [("hub", hub)] }
    let run = Task { try await page.run() }
    var iterator = ports.makeAsyncIterator()
    let port = try #require(await iterator.next())
    var viewer = try await Looker.asking("/events", of: port)
    try await viewer.event("figures")
    run.cancel()
    try await run.value
    _ = await viewer.rest()
  }

  @Test("where it cannot listen it says so, and what to do")
  func unavailable() async throws {
    for port in [-1, 65536, 70000] {
      var configuration = HubPageService.Configuration()
      configuration.port = port
      let page = HubPageService(configuration, logger: Logger(label: "test")) { [] }
      let error = await #expect(throws: HubPageError.self) { try await page.run() }
      #expect(error?.description.contains("The page's port is \(port).") == true)
    }
    try await PageStage().run { port, _ in
      var configuration = HubPageService.Configuration()
      configuration.port = port
      let page = HubPageService(configuration, logger: Logger(label: "test")) { [] }
      let error = await #expect(throws: HubPageError.self) { try await page.run() }
      #expect(error?.description.contains("127.0.0.1, port \(port)") == true)
      #expect(error?.description.contains("port 0 for any") == true)
    }
  }
}
