import Delegation
import DelegationAdapters
import Foundation
import Logging
import Testing

@testable import ChatServerKit
@testable import DelegationPage

private protocol Work: AnyObject, Sendable {
  func perform(_ number: Int) async throws
}

private struct Broken: Error {}

/// Waits at a gate of its own for each number, and throws if there is none.
private final class Worker: Work {
  let gates: [Gate]
  let hasBegun = (0..<2).map { _ in Gate() }
  init(_ gates: [Gate]) { self.gates = gates }

  func perform(_ number: Int) async throws {
    guard gates.indices.contains(number) else { throw Broken() }
    hasBegun[number].open()
    await gates[number].pass()
  }
}

@Suite("The page says what is so", .timeLimit(.minutes(5)))
struct PageTests {
  private let start = ContinuousClock.now

  private func kinds(_ state: PageState) -> [String] { state.troubles.map(\.kind) }

  @Test("a need is not met as long as nobody is subscribed, asked or not: X1")
  func missing() async throws {
    let page = HubPage()
    let hub = DelegateHub()
    page.note(need: "Gate", isMet: true, at: start)
    #expect(kinds(page.look(at: [("it", hub)], now: start)) == [])
    page.note(need: "Gate", isMet: false, at: start + .seconds(1))
    // Whoever notes it again changes nothing.
    page.note(need: "Gate", isMet: false, at: start + .seconds(5))
    let state = page.look(at: [("it", hub)], now: start + .seconds(60))
    #expect(kinds(state) == ["missing"])
    #expect(state.troubles.first?.since == 59)
    page.note(need: "Gate", isMet: true, at: start + .seconds(61))
    #expect(kinds(page.look(at: [("it", hub)], now: start + .seconds(61))) == [])
  }

  @Test("what was lost stays until somebody has looked at it, and comes back if more is lost: X2")
  func lost() async throws {
    let (incidents, report) = AsyncStream<DelegateHub.Incident>.makeStream()
    let hub = DelegateHub(.init(onIncident: { report.yield($0) }))
    let worker = Worker([])
    hub.subscribe(worker, to: (any Work).self, id: "it")
    let page = HubPage()
    for number in 1...2 {
      await hub[(any Work).self].notifyAndWait { try await $0.perform(7) }
      page.note(Report(try await incidents.next()), at: start)
      // An hour later.
      let state = page.look(at: [("it", hub)], now: start + .seconds(3600))
      #expect(kinds(state) == ["failed"])
      #expect(state.troubles.first?.why == "Broken()")
      #expect(state.troubles.first?.since == 3600)
      #expect(state.troubles.first?.subscriber?.hasPrefix("ChatServerTests.Worker (it), ") == true)
      #expect(state.incidents.first?.count == number)
      page.acknowledge()
      #expect(kinds(page.look(at: [("it", hub)], now: start + .seconds(3601))) == [])
    }
    // However many there are: one trouble for each kind and protocol.
    let others = (0..<30).map { _ in Worker([]) }
    for (number, other) in others.enumerated() {
      hub.subscribe(other, to: (any Work).self, id: number)
    }
    await hub[(any Work).self].notifyAndWait { try await $0.perform(7) }
    for _ in 0...30 { page.note(Report(try await incidents.next()), at: start) }
    let state = page.look(at: [("it", hub)], now: start + .seconds(3602))
    #expect(kinds(state) == ["failed"])
    #expect(state.troubles.first?.what == "failed 31 times")
    #expect(state.troubles.first?.subscriber?.hasSuffix(" and 30 more") == true)
  }

  @Test("what a mailbox has dropped is counted to the last, also when its hub has gone")
  func dropped() async throws {
    let (incidents, report) = AsyncStream<DelegateHub.Incident>.makeStream()
    var hub: DelegateHub? = DelegateHub(.init(onIncident: { report.yield($0) }))
    let (worker, page) = (Worker([Gate()]), HubPage())
    func post(_ count: Int) {
      for _ in 0..<count { hub?[(any Work).self].notify { try await $0.perform(0) } }
    }
    func what(_ second: Int) -> [String] {
      page.look(at: hub.map { [("it", $0)] } ?? [], now: start + .seconds(second)).troubles
        .filter { $0.kind == "dropped" }.map { "\($0.what), \($0.since)" }
    }
    let subscription = hub?.subscribe(
      worker, to: (any Work).self, mailbox: .dropOldest(limit: 3))
    post(1)
    await worker.hasBegun[0].pass()
    post(100)
    #expect(what(1) == [])
    page.note(Report(try await incidents.next()), at: start + .seconds(1))
    #expect(what(2) == ["had a full mailbox: dropped 97 times, 1.0"])
    page.acknowledge()
    #expect(what(3) == [])
    // It has not caught up, so there is no other incident.
    post(10)
    #expect(what(4) == ["had a full mailbox: dropped 10 times, 0.0"])
    post(20)
    #expect(subscription?.statistics.counts.dropped == 127)
    subscription?.cancel()
    worker.gates[0].open()
    await hub?.drain()
    hub = nil
    #expect(what(7) == ["had a full mailbox: dropped 30 times, 3.0"])
    page.acknowledge()
    #expect(what(8) == [])
  }

  @Test("a handler that was given up is shown, and stays")
  func givenUp() async throws {
    let (given, giveUp) = AsyncStream<DelegateHub.HandlerCall>.makeStream()
    let logger = Logger(label: "page") { _ in SwiftLogNoOpLogHandler() }
    let hub = DelegateHub(
      .init(
        interceptors: [
          DeadlineInterceptor(after: .milliseconds(1), logger: logger) { giveUp.yield($0) }
        ]))
    let (worker, page) = (Worker([Gate()]), HubPage())
    hub.subscribe(worker, to: (any Work).self)
    hub[(any Work).self].notify { try await $0.perform(0) }
    page.note(Report(givenUp: try await given.next()), at: start)
    var state = page.look(at: [("it", hub)], now: start)
    state = page.look(at: [("it", hub)], now: start + .seconds(2))
    #expect(
      state.troubles.map(\.what) == [
        "was removed, but its handler runs", "hung and was given up, once",
      ])
    worker.gates[0].open()
    await hub.drain()
    #expect(kinds(page.look(at: [("it", hub)], now: start + .seconds(3))) == ["givenUp"])
    page.acknowledge()
    #expect(kinds(page.look(at: [], now: start + .seconds(4))) == [])
  }

  @Test("a handler hangs until it returns, whatever others of its subscriber do")
  func hanging() async throws {
    let (incidents, report) = AsyncStream<DelegateHub.Incident>.makeStream()
    let hub = DelegateHub(
      .init(onIncident: { report.yield($0) }, slowAfter: .milliseconds(20)))
    let worker = Worker([Gate(), Gate()])
    hub.subscribe(worker, to: (any Work).self)
    let page = HubPage()
    func ask(_ number: Int) -> Task<Bool, Never> {
      Task {
        await hub[(any Work).self].vote(absent: .abstains) {
          try await $0.perform(number)
          return true
        }
      }
    }
    let first = ask(0)
    let incident = try await incidents.next()
    #expect(incident.kind == .slow)
    page.note(Report(incident), at: start)
    let second = ask(1)
    await worker.hasBegun[1].pass()
    var state = page.look(at: [("it", hub)], now: start + .seconds(9))
    #expect(kinds(state) == ["hanging"])
    #expect(state.troubles.first.map { $0.since >= 9 } == true)
    #expect(state.troubles.first?.what == "2 of its handlers run")
    worker.gates[1].open()
    _ = await second.value
    state = page.look(at: [("it", hub)], now: start + .seconds(10))
    #expect(state.hubs[0].protocols[0].subscribers[0].running == 1)
    worker.gates[0].open()
    _ = await first.value
    await hub.drain()
    #expect(kinds(page.look(at: [("it", hub)], now: start + .seconds(11))) == [])
  }

  @Test("without slowAfter a handler hangs from the first look on")
  func seen() async {
    let (page, worker) = (HubPage(), Worker([Gate()]))
    let hub = DelegateHub(.init(onIncident: { page.note($0) }))
    hub.subscribe(worker, to: (any Work).self)
    hub[(any Work).self].notify { try await $0.perform(0) }
    hub[(any Work).self].notify { try await $0.perform(7) }
    await worker.hasBegun[0].pass()
    #expect(kinds(page.look(at: [("it", hub)], now: start)) == [])
    let state = page.look(at: [("it", hub)], now: start + .seconds(2))
    #expect(kinds(state) == ["hanging"])
    #expect(state.troubles.first?.whom == "a notification waits for it")
    worker.gates[0].open()
    await hub.drain()
    #expect(kinds(page.look(at: [("it", hub)], now: start + .seconds(4))) == ["failed"])
  }

  @Test("by HTTP: JSON for scripts, and nothing for another site's page")
  func http() async throws {
    try await serving { server, _, page in
      func get(_ request: String, host: String, _ header: String = "") async throws -> String {
        try await Client.talk(to: page) { client in
          try await client.say(
            "\(request) HTTP/1.1\r\nHost: \(host)\r\n\(header)Connection: close\r\n\r")
          var text = ""
          while let line = try await client.read() { text += line + "\n" }
          return text + client.unread
        }
      }
      for host in ["LOCALHOST:\(page)", "127.0.0.1:\(page)"] {
        let answer = try await get("GET /json", host: host)
        let json = Data((answer.split(separator: "\r\n\r\n").last ?? "").utf8)
        let state = try JSONDecoder().decode(PageState.self, from: json)
        #expect(state.hubs.map(\.name) == ["extensions"])
        #expect(state.troubles == [])
      }
      let refusals = [
        try await get("GET /json", host: "evil.example"),
        try await get("POST /seen", host: "evil.example", "X-Page: 1\r\n"),
        try await get("POST /seen", host: "localhost"),
      ]
      for answer in refusals { #expect(answer.hasPrefix("HTTP/1.1 403")) }
      #expect(
        try await get("POST /seen", host: "localhost", "X-Page: 1\r\n").hasPrefix("HTTP/1.1 204"))
      #expect(try await get("GET /", host: "localhost").contains("What is wrong"))
      let head = try await get("HEAD /", host: "localhost")
      #expect(head.hasPrefix("HTTP/1.1 200") && !head.contains("What is wrong"))
      #expect(try await get("GET /elsewhere", host: "localhost").hasPrefix("HTTP/1.1 404"))
      #expect(
        try await get("GET /json", host: "localhost", "Host: evil.example\r\n")
          .hasPrefix("HTTP/1.1 403"))
      // Nobody has asked anything.
      _ = await server.shelf.unload("doorkeeper")
      #expect(try await get("GET /json", host: "localhost").contains("\"missing\""))
      server.shelf.load("doorkeeper")
      #expect(try await !get("GET /json", host: "localhost").contains("\"missing\""))
    }
  }

  @Test("lines and headers of a megabyte are refused before they end, and hold up nobody")
  func hostile() async throws {
    try await serving { _, port, page in
      let endless = String(repeating: "x", count: 1 << 20)
      for start in ["GET /\(endless)", "GET /json HTTP/1.1\r\nHost: \(endless)", endless] {
        try await withThrowingTaskGroup { group in
          // More than the pool has threads, and none of them ends what it says.
          for _ in 0..<8 {
            group.addTask {
              try? await Client.talk(to: page) { client in
                try await client.send(Array(start.utf8))
                while try await client.read() != nil {}
              }
            }
          }
          group.addTask {
            try await Client.talk(to: port) { try await $0.expect("help", "ok \(Command.list)") }
          }
          try await group.waitForAll()
        }
      }
      // One that has been refused is closed, though it asks to be kept.
      try await Client.talk(to: page) { client in
        try await client.say("GET /json HTTP/1.1\r\nHost: evil.example\r\n\r\nGET / HTTP/1.1\r\n\r")
        while try await client.read() != nil {}
        #expect(client.unread.hasPrefix("HTTP/1.1 403") && !client.unread.contains("HTTP/1.1 200"))
      }
    }
  }
}
