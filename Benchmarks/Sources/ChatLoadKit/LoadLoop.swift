import NIOCore
import NIOPosix

/// One event loop's share of a load: all clients of some of the rooms.
///
/// What it holds belongs to the event loop.
final class LoadLoop {
  let eventLoop: any EventLoop
  let tally: LoopTally
  private(set) var rooms: [RoomRecord] = []
  private(set) var clients: [Client] = []
  private var next = 0
  private var start: UInt64 = 0
  private var talk: RepeatedTask?

  init(on eventLoop: any EventLoop, plan: LoadPlan) {
    self.eventLoop = eventLoop
    tally = LoopTally(unwelcomeEvery: plan.unwelcomeEvery)
  }

  /// Connects the clients of a room; done when all have joined.
  func open(_ name: String, members: Range<Int>, plan: LoadPlan) -> EventLoopFuture<Void> {
    let room = RoomRecord(name: name)
    rooms.append(room)
    let joined = members.map { index in
      let promise = eventLoop.makePromise(of: Void.self)
      let client = Client(index: index, room: room, tally: tally, joined: promise)
      clients.append(client)
      let bound = NIOLoopBound(client, eventLoop: eventLoop)
      ClientBootstrap(group: eventLoop)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .connectTimeout(.seconds(20))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(bound.value)
          }
        }
        .connect(host: plan.host, port: plan.port).whenFailure { promise.fail($0) }
      return promise.futureResult
    }
    return EventLoopFuture.andAllSucceed(joined, on: eventLoop)
  }

  /// Lets the clients say so much in a second, each message at a time of its own.
  ///
  /// A message that is late was due nonetheless when it was: its latency counts from then.
  func talk(_ perSecond: Double) {
    guard !clients.isEmpty, perSecond > 0 else { return }
    start = NIODeadline.now().uptimeNanoseconds
    let interval = 1_000_000_000 / perSecond
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    talk = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { _ in
      let loop = bound.value
      let now = NIODeadline.now().uptimeNanoseconds
      while true {
        let due = loop.start + UInt64(Double(loop.next) * interval)
        guard due <= now else { return }
        loop.clients[loop.next % loop.clients.count].say(due: due)
        loop.next += 1
      }
    }
  }

  /// Lets so many clients of each room say something whenever they have heard their last.
  ///
  /// The last to join is one of them: where members are served in that order it is behind them all.
  func chat(senders: Int) {
    for room in rooms {
      let members = clients.filter { $0.room === room }
      for number in 1...senders {
        let client = members[members.count * number / senders - 1]
        client.isChained = true
        client.say(due: NIODeadline.now().uptimeNanoseconds)
      }
    }
  }

  func fallSilent() {
    talk?.cancel()
    for client in clients { client.isChained = false }
  }

  /// Whether everybody has had all answers and heard all that was accepted.
  var isComplete: Bool {
    clients.allSatisfy { client in
      client.isAnswered && client.heard >= (client.room.accepted.keys.max() ?? 0)
        && client.heard == client.room.messages.count
    }
  }

  var isClosed: Bool { clients.allSatisfy(\.isClosed) }

  /// What is wrong, after all has been said.
  func settle(wantsBye: Bool) -> [String] {
    for room in rooms { room.settle() }
    var faults = rooms.flatMap(\.faults)
    for client in clients where client.heard != client.room.messages.count {
      faults.append(
        "\(client.name) heard \(client.heard) of \(client.room.messages.count) messages")
    }
    if wantsBye {
      for client in clients where !client.hasBye {
        faults.append("\(client.name) was cut off without a bye")
      }
    }
    return faults
  }
}
