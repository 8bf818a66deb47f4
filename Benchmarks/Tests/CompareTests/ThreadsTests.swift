import Foundation
import Synchronization
import Testing

@testable import compare

@Suite("Threads: each does its part, at the same time as the others")
struct ThreadsTests {
  @Test("all have done their part when the call returns, each once", arguments: [1, 16])
  func parts(count: Int) async {
    let threads = Threads(count)
    let calls = Mutex<[Int]>([])
    for round in 1...3 {
      await threads.together { index in calls.withLock { $0.append(index) } }
      let expected = (0..<count).flatMap { Array(repeating: $0, count: round) }
      #expect(calls.withLock { $0.sorted() } == expected)
    }
  }

  @Test("each is a thread of its own, and the same one each time")
  func identities() async {
    let threads = Threads(8)
    let present = Mutex<Set<ObjectIdentifier>>([])
    for _ in 0..<3 {
      await threads.together { _ in
        present.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
      }
      #expect(present.withLock { $0.count } == 8)
    }
  }

  @Test("they share a burst that can be shared")
  func shares() {
    #expect(Posters.one.share(of: 100) == 100)
    #expect(Posters.tasks(8).share(of: 200) == 25)
    #expect(Posters.threads(Threads(16)).share(of: 1_600) == 100)
  }
}
