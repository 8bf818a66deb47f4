import Testing

@testable import Delegation

@Suite(
  "Wake: asked for by whoever says something, sent by whoever has the hub", .inTurn)
struct WakeTests {
  @Test("one at a time is asked for, and one of those who try claims it")
  func stages() {
    let wake = Wake()
    for _ in 0..<3 {
      #expect(wake.isDue == false)
      #expect(wake.claim() == false)
      #expect([wake.ask(), wake.ask()] == [true, false])
      #expect(wake.isDue == true)
      #expect([wake.claim(), wake.claim(), wake.ask()] == [true, false, false])
      #expect(wake.isDue == false)
      wake.answer()
    }
    #expect(wake.ask() == true)
    #expect(wake.close() == true)
    #expect(wake.isDue == false)
    #expect([wake.claim(), wake.ask(), wake.close()] == [false, false, false])
    wake.answer()
    #expect(wake.ask() == false)
  }

  @Test("one that was taken before anybody claimed it is over")
  func unclaimedAnswer() {
    let wake = Wake()
    #expect(wake.ask() == true)
    wake.answer()
    #expect(wake.isDue == false)
    #expect(wake.ask() == true)
  }

  @Test("it has the highest priority of those who wait for it, and the next one the default again")
  func priority() {
    let wake = Wake()
    #expect(wake.priority == nil)
    for priority in [TaskPriority.medium, .high, .background] { wake.raise(to: priority) }
    #expect(wake.priority == .high)
    wake.answer()
    #expect(wake.priority == nil)
  }

  @Test("what is posted sends the wake that somebody else has asked for and not sent")
  func postSends() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let wakes = Wakes(of: inbox)
    let (subscriber, other) = (Nobody(), Nobody())
    _ = Structures.subscribe(other, in: inbox)
    // As when a thread is about to send it, or can get no hold of the hub that another one still has.
    wakes.isStuck = true
    for _ in 0..<300 { Structures.subscribe(subscriber, in: inbox).terminate(as: .cancelled) }
    #expect(inbox.wake.isDue == true)
    #expect(inbox.activity.workers.value == 1)
    #expect(wakes.count == 0)
    wakes.isStuck = false
    inbox.post(Structures.content(), to: Structures.key)
    #expect(wakes.count == 1)
    #expect(inbox.activity.workers.value == 1)
    #expect(inbox.takeUpdates(asWake: true).pendingWork.pending.map(\.key) == [Structures.key])
  }

  @Test("a wake that nobody has claimed is counted off when the hub is released")
  func unclaimed() {
    let inbox = Inbox()
    let wakes = Wakes(of: inbox)
    let subscriber = Nobody()
    wakes.isStuck = true
    for _ in 0..<300 { Structures.subscribe(subscriber, in: inbox).terminate(as: .cancelled) }
    #expect(inbox.activity.workers.value == 1)
    inbox.clear()
    #expect(inbox.activity.workers.value == 0)
    #expect(wakes.count == 0)
  }

  @Test("what was posted before the hub was released is handled, whoever cancels meanwhile")
  func released() async {
    for _ in rounds(300) {
      let handled = Recorder<Int>()
      let probe = Probe()
      let transient = Probe()
      let owner = Lock<DelegateHub?>(DelegateHub())
      guard
        let (inbox, last) = owner.withLock({ hub -> (Inbox, DelegateHub.Subscription)? in
          guard let hub else { return nil }
          hub.subscribe(probe, to: Listener.self)
          // One change less than asks for a wake.
          for _ in 0..<255 { hub.subscribe(transient, to: Listener.self).cancel() }
          return (hub.inbox, hub.subscribe(transient, to: Listener.self))
        })
      else { return }
      Threads.run(2) { thread in
        if thread == 0 {
          last.cancel()
        } else {
          let hub = owner.withLock { hub in
            defer { hub = nil }
            return hub
          }
          hub?.notify(Listener.self) { if $0 === probe { handled.record(1) } }
        }
      }
      while inbox.activity.workers.value > 0 { await Task.yield() }
      #expect(handled.history == [1])
    }
  }
}
