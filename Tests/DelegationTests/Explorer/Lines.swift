import Delegation

/// A subscription to events: a loop over a stream, `next` or `once`.
struct Line {
  /// The call that made it, and its task.
  let call: Int, task: Int
  let limit: Int?
  /// Whether it takes one event and no second one.
  let isOnce: Bool
  var addressed: [Int] = []
  /// How many of them it has handled, or passed over if there is a limit.
  var passed = 0
  var inHand: Int?
  /// Whether somebody asks for its next event.
  var isAsking = false
  /// Whether what is posted is addressed to it.
  var isOpen = true
  var isOver = false

  mutating func post(_ number: Int) {
    guard isOpen else { return }
    addressed.append(number)
    if isOnce { isOpen = false }
  }

  /// How many have certainly yet to be handled.
  var pending: Int {
    if isOver { return 0 }
    return limit == nil || inHand != nil
      ? addressed.count - passed : min(1, addressed.count - passed)
  }

  func hasPending(_ number: Int) -> Bool {
    if isOver { return false }
    return inHand == number || addressed.firstIndex(of: number).map { $0 >= passed } ?? false
  }
}

extension Model {
  mutating func openLine(_ call: Int, in task: Int?, limit: Int? = nil, isOnce: Bool = false) -> Int
  {
    tick()
    lines.append(
      Line(call: call, task: task ?? -1, limit: limit, isOnce: isOnce, isOpen: !isFinished))
    return lines.count - 1
  }

  /// Somebody asks for the next event: the one in hand has been handled.
  mutating func ask(_ line: Int) {
    tick()
    if lines[line].inHand.take() != nil { lines[line].passed += 1 }
    lines[line].isAsking = true
  }

  /// What a loop has in hand as its task is cancelled counts as missed.
  mutating func putDown(_ line: Int) {
    if lines[line].inHand != nil, cancelledTasks.contains(lines[line].task) { taken -= 1 }
  }

  mutating func take(_ event: Int?, from line: Int) {
    tick()
    lines[line].isAsking = false
    let (now, who) = (lines[line], "the line of #\(lines[line].call)")
    guard let event else {
      let isCancelled = cancelledTasks.contains(now.task)
      if now.isOpen, !isCancelled { violate(2, "\(who) ends, and nobody has ended it") }
      if now.pending > 0, !isCancelled {
        violate(6, "\(who) ends before \(now.addressed[now.passed])")
      }
      return
    }
    taken += 1
    guard let index = now.addressed.firstIndex(of: event) else {
      return violate(1, "\(who) gets #\(event), which was not posted to it")
    }
    if index < now.passed || index > now.passed && now.limit == nil {
      violate(5, "\(who) gets #\(event), not \(now.addressed[now.passed...].first ?? 0)")
    }
    lines[line].passed = index
    lines[line].inHand = event
  }

  /// It is released, which is a moment later.
  mutating func close(_ line: Int) {
    tick()
    lines[line].isOver = true
    lines[line].isOpen = false
  }

  mutating func finishLines() {
    tick()
    isFinished = true
    for index in lines.indices { lines[index].isOpen = false }
  }

  /// Checks the account of events when all has come to rest.
  mutating func checkLines(_ handled: Int, _ waiting: Int) {
    if handled != taken { violate(16, "\(taken) events were taken, and \(handled) are handled") }
    if waiting != 0 { violate(16, "\(waiting) events wait when all is over") }
  }

  /// Checks what a watcher of the demand has heard last.
  mutating func checkDemand() {
    let isAnybodyThere = episodes.contains { $0.isOpen }
    // One that has died counts until it is found.
    if !isAnybodyThere, episodes.contains(where: \.isDead) { return }
    if demand != isAnybodyThere { violate(0, "demand is \(demand as Any), not \(isAnybodyThere)") }
  }
}

extension Scenario {
  var events: Events<Int> { Events<Int>(of: hub) }

  /// Takes so many events of a stream, and releases it.
  func listen(to count: Int, _ limit: Int?, _ number: Int) async {
    let stream = events.registry.stream(mailbox: limit.map { .dropOldest(limit: $0) })
    let line = model.openLine(number, in: model.calls[number]?.task, limit: limit)
    var iterator = stream.makeAsyncIterator()
    defer { model.close(line) }
    for _ in 0..<count {
      model.putDown(line)
      model.ask(line)
      let event = await iterator.next()
      model.take(event, from: line)
      guard let event else { return }
      for _ in 0..<event % 3 { await Task.yield() }
    }
    model.putDown(line)
  }

  func next(within ticks: Int?, _ number: Int) async -> Int? {
    let line = model.openLine(number, in: model.calls[number]?.task)
    model.lines[line].isAsking = true
    let event = await events.registry.next(within: ticks.map { .seconds($0) })
    if event != nil { model.take(event, from: line) }
    defer { model.close(line) }
    return event
  }

  func once(_ number: Int) {
    let line = model.openLine(number, in: nil, isOnce: true)
    events.registry.once { event in
      self.model.take(event, from: line)
      for _ in 0..<event % 3 { await Task.yield() }
      self.model.close(line)
    }
  }

  /// - Returns: whether anybody had waited for an event.
  func finishLines() -> Bool {
    let isAwaited = model.lines.contains { $0.isAsking }
    model.finishLines()
    events.finish()
    return isAwaited
  }

  /// Notes whether anybody is subscribed, as long as there is a hub.
  func watchDemand() {
    let demand = hub[(any Subject).self].demand
    Task(executorPreference: explorer.executor) {
      for await value in demand {
        if value == self.model.demand { self.model.violate(0, "demand is \(value) twice") }
        self.model.demand = value
      }
    }
  }
}
