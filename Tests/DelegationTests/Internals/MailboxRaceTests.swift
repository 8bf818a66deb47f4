import Testing

@testable import Delegation

@Suite("Mailbox: posters and workers on several threads", .inTurn(.heavy))
struct MailboxRaceTests {
  private let board = Board()
  private let subscriber = Nobody()

  @Test("each poster that comes by finds it handled, or a worker that will handle it, in order")
  func nothingStranded() {
    defer { board.clear() }
    let node = board.subscribe(subscriber)
    let posters = 2
    let (posted, stranded, inside, together) = (Count(), Count(), Count(), Count())
    let (leaving, finished) = (Count(), Count())
    let orders = (0..<posters).map { _ in Recorder<Int>() }
    Threads.run(posters + 1) { thread in
      if thread == posters {
        // Keeps the mailbox busy, so that what the others do to it overlaps.
        while finished.value < posters {
          node.contents.withLock {
            for number in 0..<300 { _ = $0.mailbox.account(published: number) }
          }
        }
        return
      }
      func serve(_ content: Notification.Content) {
        leaving.add(1)
        node.serve(content)
        leaving.add(-1)
      }
      for post in races(5000) {
        posted.add(1)
        board.post {
          inside.add(1)
          if inside.value > 1 { together.add(1) }
          orders[thread].record(post)
          inside.add(-1)
        }
        if let content = node.begin() { serve(content) }
        while orders[thread].count <= post {
          // A worker that attends now finds that no other one does, though one has been called; unless the one that
          // has left has requested another, or is about to.
          guard let content = node.begin() else { continue }
          let isComing = leaving.value > 0
          let due = board.takeRequested()
          if orders[thread].count <= post, !isComing, due.isEmpty {
            stranded.add(1)
          }
          serve(content)
        }
      }
      finished.add(1)
    }
    board.takeRequested()
    node.visit()
    #expect(stranded.value == 0 && together.value == 0)
    #expect(node.account == Account(handled: posted.value))
    for order in orders { #expect(order.history == Array(0..<order.count)) }
  }

  @Test("a worker that is about to leave sees the flag that another one sets meanwhile")
  func flagOnTheWayToRest() {
    defer { board.clear() }
    let node = board.subscribe(subscriber)
    board.post()
    #expect(node.begin() != nil)
    let (isHeld, isComing, rested) = (Count(), Count(), Count())
    Threads.run(2) { thread in
      if thread == 0 {
        while isHeld.value == 0 { Threads.pause() }
        isComing.add(1)
        // It stands at the mailbox's lock meanwhile, whatever it has read before.
        if case .done = node.advance(after: .handled) { rested.add(1) }
      } else {
        node.contents.withLock { contents in
          isHeld.add(1)
          while isComing.value == 0 { Threads.pause() }
          Threads.pause(2000)
          board.post()
          _ = contents.mailbox.attend(published: 2)
        }
      }
    }
    #expect(rested.value == 0)
    if node.isAttended { _ = node.advance(after: .expired) }
  }

  @Test("whatever ends last, the sums have each notification and question, once")
  func ends() {
    let number = rounds(2_000)
    let boards = number.map { _ in Board() }
    let nodes = boards.map { board in
      let node = board.subscribe(subscriber)
      #expect(node.beginCall() && node.beginCall())
      for _ in 0..<2 { board.post() }
      #expect(node.begin() != nil)
      return node
    }
    let (meeting, asked) = (Meeting(of: 4), Count())
    Threads.run(4) { thread in
      for round in number {
        guard meeting.await(round) else { return }
        let node = nodes[round]
        switch thread {
        case 0: node.terminate(as: .cancelled)
        case 1: while case .handle = node.advance(after: .handled) {}
        case 2: for _ in 0..<2 { node.endCall() }
        default:
          for _ in 0..<4 where node.beginCall() {
            asked.add(1)
            node.endCall()
          }
        }
      }
    }
    // If its time was up, the last ones have not been played.
    let played = nodes.filter { !$0.isOpen }
    var answered = 0
    for node in played {
      let overview = node.topic.overview()
      #expect(overview.nodes.isEmpty && overview.counts.addressed == 2)
      #expect(overview.counts.waiting + overview.counts.handling == 0)
      #expect(overview.questions.answering == 0)
      answered += overview.questions.answered
    }
    #expect(!played.isEmpty && answered == 2 * played.count + asked.value)
    for node in nodes where node.isOpen {
      for _ in 0..<2 { node.endCall() }
      _ = node.advance(after: .handled)
    }
    for board in boards { board.clear() }
  }
}
