import Testing

@testable import Delegation

protocol Worker1: AnyObject, Sendable {
  func ok(_ n: Int) async -> Bool
  func did(_ n: Int)
}
final class W: Worker1 {
  let log = Recorder<Int>()
  let answer: Bool
  init(_ answer: Bool = true) { self.answer = answer }
  func ok(_ n: Int) async -> Bool { log.record(n); return answer }
  func did(_ n: Int) { log.record(n) }
}

@Suite struct Smoke {
  @Test func votes() async {
    let hub = DelegateHub()
    #expect(await hub.vote(Worker1.self) { await $0.ok(1) })
    let a = W(), b = W(false)
    hub.subscribe(a, to: Worker1.self)
    #expect(await hub.vote(Worker1.self) { await $0.ok(1) })
    let s = hub.subscribe(b, to: Worker1.self)
    #expect(await hub.vote(Worker1.self) { await $0.ok(2) } == false)
    s.cancel()
    #expect(await hub.vote(Worker1.self) { await $0.ok(3) })
    #expect(a.log.history == [1, 2, 3])
    #expect(await hub.count(of: Worker1.self) == 1)
  }
  @Test func notifies() async {
    let hub = DelegateHub()
    let all = (0..<100).map { _ in W() }
    for w in all { hub.subscribe(w, to: Worker1.self) }
    for i in 0..<1000 { hub.notify(Worker1.self) { $0.did(i) } }
    let left = await hub.drain()
    #expect(left.isEmpty)
    for w in all { #expect(w.log.history == Array(0..<1000)) }
  }
  @Test func suspended() async {
    let hub = DelegateHub()
    let all = (0..<100).map { _ in W() }
    for w in all { hub.subscribe(w, to: Worker1.self) }
    let gate = Gate()
    let t = Task {
      await hub.vote(Worker1.self) { p in
        await gate.pass(); return await p.ok(1)
      }
    }
    await gate.arrivals(100)
    gate.open()
    #expect(await t.value)
    await hub.drain()
  }
  @Test func weak() async {
    let hub = DelegateHub()
    var w: W? = W()
    let s = hub.subscribe(w!, to: Worker1.self)
    #expect(s.isActive)
    w = nil
    #expect(!s.isActive)
    hub.notify(Worker1.self) { $0.did(1) }
    await hub.drain()
    #expect(await hub.count(of: Worker1.self) == 0)
  }
}
