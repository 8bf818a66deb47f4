import Delegation
import Foundation
import Testing

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
    var book = TroubleBook()
    let hub = DelegateHub()
    book.note(need: "Gate", isMet: true, at: start)
    #expect(kinds(book.look(at: [("it", hub)], now: start)) == [])
    book.note(need: "Gate", isMet: false, at: start + .seconds(1))
    // Whoever notes it again changes nothing.
    book.note(need: "Gate", isMet: false, at: start + .seconds(5))
    let state = book.look(at: [("it", hub)], now: start + .seconds(60))
    #expect(kinds(state) == ["missing"])
    #expect(state.troubles.first?.since == 59)
    book.note(need: "Gate", isMet: true, at: start + .seconds(61))
    #expect(kinds(book.look(at: [("it", hub)], now: start + .seconds(61))) == [])
  }

  @Test("what was lost stays until somebody has looked at it, and comes back if more is lost: X2")
  func lost() async {
    let (incidents, report) = AsyncStream<DelegateHub.Incident>.makeStream()
    let hub = DelegateHub(.init(onIncident: { report.yield($0) }))
    let worker = Worker([])
    hub.subscribe(worker, to: (any Work).self, id: "it")
    var book = TroubleBook()
    var told = incidents.makeAsyncIterator()
    for number in 1...2 {
      await hub[(any Work).self].notifyAndWait { try await $0.perform(7) }
      guard let incident = await told.next() else { return }
      book.note(incident, at: start)
      // An hour later.
      let state = book.look(at: [("it", hub)], now: start + .seconds(3600))
      #expect(kinds(state) == ["failed"])
      #expect(state.troubles.first?.why == "Broken()")
      #expect(state.troubles.first?.since == 3600)
      #expect(state.troubles.first?.subscriber?.hasPrefix("ChatServerTests.Worker (it), ") == true)
      #expect(state.incidents.first?.count == number)
      book.acknowledge()
      #expect(kinds(book.look(at: [("it", hub)], now: start + .seconds(3601))) == [])
    }
    // However many there are: one trouble for each kind and protocol. Without an incident the counts tell.
    let others = (0..<30).map { _ in Worker([]) }
    for other in others { hub.subscribe(other, to: (any Work).self) }
    await hub[(any Work).self].notifyAndWait { try await $0.perform(7) }
    let state = book.look(at: [("it", hub)], now: start + .seconds(3602))
    #expect(kinds(state) == ["failed"])
    #expect(state.troubles.first?.what == "failed 31 times")
  }

  @Test("a handler hangs until it returns, whatever others of its subscriber do")
  func hanging() async {
    let (incidents, report) = AsyncStream<DelegateHub.Incident>.makeStream()
    let hub = DelegateHub(
      .init(onIncident: { report.yield($0) }, slowAfter: .milliseconds(20)))
    let worker = Worker([Gate(), Gate()])
    hub.subscribe(worker, to: (any Work).self)
    var book = TroubleBook()
    func ask(_ number: Int) -> Task<Bool, Never> {
      Task {
        await hub[(any Work).self].vote(absent: .abstains) {
          try await $0.perform(number)
          return true
        }
      }
    }
    let first = ask(0)
    for await incident in incidents {
      #expect(incident.kind == .slow)
      book.note(incident, at: start)
      break
    }
    let second = ask(1)
    await worker.hasBegun[1].pass()
    var state = book.look(at: [("it", hub)], now: start + .seconds(9))
    #expect(kinds(state) == ["hanging"])
    #expect(state.troubles.first.map { $0.since >= 9 } == true)
    #expect(state.troubles.first?.what == "2 of its handlers run")
    worker.gates[1].open()
    _ = await second.value
    state = book.look(at: [("it", hub)], now: start + .seconds(10))
    #expect(state.hubs[0].protocols[0].subscribers[0].running == 1)
    worker.gates[0].open()
    _ = await first.value
    await hub.drain()
    #expect(kinds(book.look(at: [("it", hub)], now: start + .seconds(11))) == [])
  }

  @Test("without slowAfter a handler hangs from the first look on")
  func seen() async {
    let hub = DelegateHub()
    let worker = Worker([Gate()])
    hub.subscribe(worker, to: (any Work).self)
    hub[(any Work).self].notify { try await $0.perform(0) }
    hub[(any Work).self].notify { try await $0.perform(7) }
    await worker.hasBegun[0].pass()
    var book = TroubleBook()
    #expect(kinds(book.look(at: [("it", hub)], now: start)) == [])
    let state = book.look(at: [("it", hub)], now: start + .seconds(2))
    #expect(kinds(state) == ["hanging"])
    #expect(state.troubles.first?.whom == "a notification waits for it")
    worker.gates[0].open()
    await hub.drain()
    #expect(kinds(book.look(at: [("it", hub)], now: start + .seconds(4))) == ["failed"])
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
      for host in ["localhost:\(page)", "127.0.0.1:\(page)"] {
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
      // Nobody has asked anything.
      _ = await server.shelf.unload("doorkeeper")
      #expect(try await get("GET /json", host: "localhost").contains("\"missing\""))
      server.shelf.load("doorkeeper")
      #expect(try await !get("GET /json", host: "localhost").contains("\"missing\""))
    }
  }
}
