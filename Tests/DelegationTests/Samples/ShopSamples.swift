import Delegation
import Testing

@Suite("Samples of choosing a call", .inTurn)
struct ShopSamples {
  private protocol ShopDelegate: AnyObject, Sendable {
    func didOpen()
    func didSell(_ item: String)
    func willClose() async
    func mayClose() async -> Bool
    func stock(of item: String) async -> Int
    func inspect() async throws -> String
    func price(of item: String) async -> Int?
    func label(_ text: String) async -> String?
  }

  private actor Counter: ShopDelegate {
    let name: String
    private let prices: [String: Int]
    nonisolated let sold = Recorder<String>()
    private(set) var isClosing = false

    init(_ name: String, prices: [String: Int]) {
      self.name = name
      self.prices = prices
    }

    nonisolated func didOpen() { sold.record("open") }
    nonisolated func didSell(_ item: String) { sold.record(item) }
    func willClose() { isClosing = true }
    func mayClose() -> Bool { isClosing }
    func stock(of item: String) -> Int { prices[item] == nil ? 0 : 7 }
    func inspect() throws -> String {
      if name == "toys" { throw Refusal() }
      return "\(name) is fine"
    }
    func price(of item: String) -> Int? { prices[item] }
    func label(_ text: String) -> String? { "\(text), \(name)" }
  }

  @Test("the eight calls")
  func calls() async {
    let hub = DelegateHub()
    let counters = [Counter("books", prices: ["atlas": 30]), Counter("toys", prices: ["kite": 9])]
    for counter in counters { hub.subscribe(counter, to: ShopDelegate.self) }
    let (item, text) = ("kite", "Thank you")
    // sample: Choosing a call
    let shop = hub[ShopDelegate.self]

    // Call all now, here, one after another.
    shop.forEach { $0.didOpen() }

    // Tell: something has happened, and nobody is waited for. With nobody there it is gone.
    shop.notify { $0.didSell(item) }

    // Tell, and wait: true if somebody was there, and all have handled it.
    let isHandled = await shop.notifyAndWait { await $0.willClose() }.isHandled

    // Ask all side by side: may it happen? One "no" denies; with nobody there it is true.
    let mayClose = await shop.vote { await $0.mayClose() }

    // Ask all side by side, and make one value of the answers; 0 with nobody there.
    let stock = await shop.ask(combining: .sum()) { await $0.stock(of: item) }

    // Ask all side by side, and have each one's answer, or why there is none; [] with nobody there.
    let reports = await shop.collect { try await $0.inspect() }

    // Ask one after another, until somebody knows; nil if nobody does.
    let price = await shop.askInTurn { await $0.price(of: item) }

    // Hand a value from one to the next; each may change it, or stop it: nil. With nobody there it stays.
    let receipt = await shop.pass(text) { await $0.label($1) }
    // end of sample
    #expect(counters.map(\.sold.history) == [["open", "kite"], ["open", "kite"]] && mayClose)
    #expect(isHandled && stock == 7)
    #expect(reports.map { try? $0.result.get() } == ["books is fine", nil])
    #expect(price == 9 && receipt == "Thank you, books, toys")
  }
}
