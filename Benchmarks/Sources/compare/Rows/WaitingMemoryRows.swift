import Delegation
import Dispatch

/// What a notification takes while all of few subscribers have yet to handle it.
let waitingMemoryRows: [Row] = [1, 3, 10, 100].map { count in
  let id = "memory.waiting.\(count)"
  return Row(id, measure: { plan in await waiting(id, for: count, plan) })
}

private let request = Request(id: 7, units: 1)

/// Measures each of those that do not call handlers in the poster's place.
private func waiting(_ id: String, for count: Int, _ plan: Plan) async -> [Line] {
  let posts = max(500, 20_000 / count)
  let contestants: [(name: String, bytes: @Sendable () async -> Double)] = [
    ("hub", { await bytesOfWaiting(hung: count) }),
    ("queue per delegate", { await bytesInQueues(of: count, posts: posts) }),
    ("async stream", { await bytesInStreams(of: count, posts: posts) }),
    ("task per delivery", { await bytesInTasks(of: count, posts: posts) }),
  ]
  var lines: [Line] = []
  for (name, bytes) in contestants where name.hasPrefix(plan.soloist ?? "") {
    var figures: [Double] = []
    for _ in 0..<plan.countings { figures.append(await bytes()) }
    lines.append(
      Line(
        row: id, unit: "notification", scale: .bytes, comparison: .alone(name),
        figure: Samples(figures)))
  }
  return lines
}

/// What each of so many posts allocates.
private func bytes(posts: Int, _ post: () async -> Void) async -> Double {
  let before = await allocatedBytes()
  await post()
  let after = await allocatedBytes()
  return Double(after - before) / Double(posts)
}

/// With a queue for each delegate the blocks wait, here of queues that are suspended.
private func bytesInQueues(of count: Int, posts: Int) async -> Double {
  let crowd = Crowd(count, burst: posts)
  let peer = QueueMulticastDelegate()
  let queues = crowd.listeners.map { _ in DispatchQueue(label: "delegate") }
  for (listener, queue) in zip(crowd.listeners, queues) {
    queue.suspend()
    peer.add(listener, delegateQueue: queue)
  }
  crowd.start()
  let result = await bytes(posts: posts) {
    for _ in 0..<posts { peer.invoke { $0.didPerform(request) } }
  }
  for queue in queues { queue.resume() }
  await crowd.wait()
  return result
}

/// Of streams the elements wait, each in as many streams as there are listeners.
private func bytesInStreams(of count: Int, posts: Int) async -> Double {
  let door = Door()
  let listeners = (0..<count).map { _ in HungListener(door: door) }
  let streams = AsyncStreamPeer()
  for listener in listeners { streams.add(listener) }
  streams.yield(request)
  await door.waitUntilWaiting(count)
  let result = await bytes(posts: posts) {
    for _ in 0..<posts { streams.yield(request) }
  }
  door.open()
  withExtendedLifetime(listeners) {}
  return result
}

/// Of a task per delivery each has begun, and hangs.
private func bytesInTasks(of count: Int, posts: Int) async -> Double {
  let door = Door()
  let listeners = (0..<count).map { _ in HungListener(door: door) }
  let tasks = TaskPerCallHub()
  for listener in listeners { await tasks.add(listener) }
  let result = await bytes(posts: posts) {
    for _ in 0..<posts { await tasks.notify { await $0.didPerform(request) } }
    await door.waitUntilWaiting(posts * count)
  }
  door.open()
  withExtendedLifetime(listeners) {}
  return result
}
