import Testing

@testable import Delegation

@Suite("Queue: first in, first out, on one array", .inTurn)
struct QueueTests {
  @Test("after every history of eight steps it agrees with an array")
  func agreesWithArray() {
    let exploration = QueueWorld().explore(upTo: 8)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 5_000)
  }

  @Test(
    "what was taken leaves as many empty places as elements wait, or 32, and no more",
    arguments: [1, 20, 100])
  func emptyPlaces(waiting: Int) {
    var queue = Queue<Int>()
    for number in 0..<waiting { queue.append(number) }
    var most = 0
    for number in 0..<1000 {
      queue.append(waiting + number)
      #expect(queue.popFirst() == number)
      most = max(most, queue.elements.count - queue.count)
    }
    #expect(most == max(32, waiting))
    #expect(queue.takeAll() == Array(1000..<(1000 + waiting)))
  }

  @Test("an element that was taken is released, though others wait")
  func letGo() {
    let lifetimes = Lifetimes()
    var queue = Queue<Lifetimes.Tracked>()
    for _ in 0..<3 { queue.append(lifetimes.make()) }
    for alive in [2, 1, 0] {
      _ = queue.popFirst()
      #expect(lifetimes.alive == alive)
    }
  }

  @Test("one that was emptied keeps its room for those to come")
  func room() {
    var queue = Queue<Int>()
    for number in 0..<20 { queue.append(number) }
    for _ in 0..<20 { _ = queue.popFirst() }
    #expect(queue.elements.capacity >= 20)
    #expect(queue.isEmpty)
  }

  @Test("but not that of a flood")
  func flood() {
    var queue = Queue<Int>()
    for number in 0..<20_000 { queue.append(number) }
    for _ in 0..<20_000 { _ = queue.popFirst() }
    #expect(queue.isEmpty)
    #expect(queue.elements.capacity <= Queue<Int>.largestKept)
  }

  @Test("one is found by its number without a look at all of them")
  func number() {
    var queue = Queue<Int>()
    for number in 0..<100_000 { queue.append(2 * number) }
    for _ in 0..<30_000 { _ = queue.popFirst() }
    let looks = Count()
    for (number, isThere) in [(60_000, true), (199_998, true), (59_998, false), (100_001, false)] {
      #expect(
        queue.contains(number) {
          looks.add(1); return $0
        } == isThere)
    }
    #expect(looks.value <= 4 * 18)
  }
}

/// A queue beside an array.
private struct QueueWorld: SmallWorld {
  enum Step: CaseIterable {
    case append, popFirst, takeAll
  }

  private var queue = Queue<Int>()
  private var array: [Int] = []
  private var last = 0

  var steps: [Step] { Step.allCases }

  mutating func take(_ step: Step) -> String? {
    switch step {
    case .append:
      last += 1
      queue.append(last)
      array.append(last)
    case .popFirst:
      let expected = array.isEmpty ? nil : array.removeFirst()
      let first = queue.popFirst()
      if first != expected { return "took \(first as Int?), expected \(expected as Int?)" }
    case .takeAll:
      let all = queue.takeAll()
      if all != array { return "took \(all) of \(array)" }
      array = []
    }
    if queue.count != array.count || queue.isEmpty != array.isEmpty { return "\(queue.count) wait" }
    let found = (1...(last + 1)).filter { number in queue.contains(number, by: \.self) }
    return found == array ? nil : "contains \(found), expected \(array)"
  }
}
