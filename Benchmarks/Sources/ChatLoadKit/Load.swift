import NIOCore
import NIOPosix

/// A load under way.
package struct Load: Sendable {
  private let plan: LoadPlan
  private let loops: [NIOLoopBound<LoadLoop>]
  private let clock = ContinuousClock()

  /// Connects the clients and waits until all have joined their rooms.
  ///
  /// - Parameter plan: what the load is to be like.
  /// - Throws: what keeps a client from joining.
  package init(_ plan: LoadPlan) async throws {
    self.plan = plan
    let group = MultiThreadedEventLoopGroup.singleton
    var loops: [NIOLoopBound<LoadLoop>] = []
    for eventLoop in group.makeIterator() {
      let loop = try await eventLoop.submit {
        NIOLoopBound(LoadLoop(on: eventLoop, plan: plan), eventLoop: eventLoop)
      }.get()
      loops.append(loop)
    }
    self.loops = loops
    for room in 0..<plan.rooms {
      let loop = loops[room % loops.count]
      let members =
        (plan.clients * room / plan.rooms)..<(plan.clients * (room + 1) / plan.rooms)
      try await loop.eventLoop.flatSubmit {
        loop.value.open("room\(room)", members: members, plan: plan)
      }.get()
    }
  }

  /// Lets everybody speak for the plan's time, then waits until everything is heard.
  ///
  /// - Throws: `CancellationError`.
  package func run() async throws -> LoadResult {
    let misbehaviour = plan.misbehaves ? Misbehaviour(plan) : nil
    try await misbehaviour?.start()
    let start = clock.now
    try await speak()
    if let misbehaviour {
      try await clock.sleep(for: plan.duration / 2)
      try await misbehaviour.hang()
      try await clock.sleep(for: plan.duration / 2)
    } else {
      try await clock.sleep(for: plan.duration)
    }
    try await onEach { $0.fallSilent() }
    let story = await misbehaviour?.stop()
    var result = try await collect(
      when: { $0.isComplete }, wantsBye: false, else: "not everything was heard")
    result.duration = start.duration(to: clock.now)
    result.misbehaviour = story
    return result
  }

  /// Lets everybody speak.
  package func speak() async throws {
    if plan.rate > 0 {
      let counts = try await onEach { $0.clients.count }
      for (loop, count) in zip(loops, counts) {
        let rate = Double(plan.rate) * Double(count) / Double(plan.clients)
        try await loop.eventLoop.submit { loop.value.talk(rate) }.get()
      }
    } else {
      try await onEach { [senders = plan.senders] in $0.chat(senders: senders) }
    }
  }

  /// Waits until so many messages have been heard, by all hearers together.
  package func waitUntilHeard(_ count: Int) async throws {
    while try await onEach({ $0.tally.heard }).reduce(0, +) < count {
      try await clock.sleep(for: .milliseconds(5))
    }
  }

  /// Waits until the server has closed all connections, and says what is wrong with what was heard.
  package func finishAfterClose() async throws -> LoadResult {
    try await collect(
      when: { $0.isClosed }, wantsBye: true, else: "not all connections were closed")
  }

  /// Adds up what the loops have counted, each as soon as it is at its end.
  private func collect(
    when isAtEnd: @escaping @Sendable (LoadLoop) -> Bool, wantsBye: Bool, else fault: String
  ) async throws -> LoadResult {
    // Counted in pauses, not by the clock: a process that was stopped for a while has not waited.
    let pause = Duration.milliseconds(5)
    var pauses = Int(plan.patience / pause)
    var result = LoadResult()
    for loop in loops {
      while true {
        let isOver = pauses <= 0
        // In one step: what others say may come at any time.
        let sum = try await loop.eventLoop.submit { [result] () -> LoadResult? in
          let isAtEnd = isAtEnd(loop.value)
          guard isAtEnd || isOver else { return nil }
          var result = result
          result.add(loop.value)
          result.faults += loop.value.settle(wantsBye: wantsBye)
          if !isAtEnd { result.faults.append(fault) }
          return result
        }.get()
        if let sum {
          result = sum
          break
        }
        try await clock.sleep(for: pause)
        pauses -= 1
      }
    }
    return result
  }

  @discardableResult
  private func onEach<Value: Sendable>(
    _ body: @escaping @Sendable (LoadLoop) -> Value
  ) async throws -> [Value] {
    var values: [Value] = []
    for loop in loops {
      values.append(try await loop.eventLoop.submit { body(loop.value) }.get())
    }
    return values
  }
}
