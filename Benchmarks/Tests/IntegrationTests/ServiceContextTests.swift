import Delegation
import DelegationAdapters
import NIOCore
import NIOPosix
import ServiceContextModule
import Testing

@Suite("ServiceContext: on whose behalf handlers run", .timeLimit(.minutes(10)))
struct ServiceContextTests {
  private protocol Auditor: AnyObject, Sendable {
    func note(_ poster: String)
    func noteTwice(_ poster: String) async
  }

  private struct Entry: Hashable, Sendable {
    let poster: String
    let seen: String?
  }

  /// Notes which request its handlers run for.
  private final class Audit: Auditor {
    let entries = Recorder<Entry>()

    func note(_ poster: String) {
      entries.record(Entry(poster: poster, seen: ServiceContext.currentRequest))
    }

    func noteTwice(_ poster: String) async {
      note(poster)
      await Task.yield()
      note(poster)
    }
  }

  private let audit = Audit()

  private func makeHub(isPropagating: Bool) -> DelegateHub {
    var configuration = DelegateHub.Configuration()
    if isPropagating { configuration.propagating = [.taskLocal(ServiceContext.$current)] }
    return DelegateHub(configuration)
  }

  @Test(
    "a synchronous handler sees the poster's context if it is propagated, else none",
    arguments: [true, false])
  func synchronousHandler(isPropagating: Bool) async {
    let hub = makeHub(isPropagating: isPropagating)
    hub.subscribe(audit, to: (any Auditor).self)
    ServiceContext.withValue(.of("r7")) {
      hub.notify((any Auditor).self) { $0.note("r7") }
    }
    #expect(await hub.drain().isEmpty)
    #expect(audit.entries.history == [Entry(poster: "r7", seen: isPropagating ? "r7" : nil)])
  }

  @Test(
    "an asynchronous handler sees the poster's context if it is propagated, else none",
    arguments: [true, false])
  func asynchronousHandler(isPropagating: Bool) async {
    let hub = makeHub(isPropagating: isPropagating)
    hub.subscribe(audit, to: (any Auditor).self)
    await ServiceContext.withValue(.of("r7")) {
      hub.notify((any Auditor).self) { await $0.noteTwice("r7") }
      await hub.notifyAndWait((any Auditor).self) { await $0.noteTwice("r7") }
    }
    let entry = Entry(poster: "r7", seen: isPropagating ? "r7" : nil)
    #expect(audit.entries.history == [entry, entry, entry, entry])
  }

  @Test("who posts without a context has handlers without one, even after another's")
  func noContext() async {
    let hub = makeHub(isPropagating: true)
    hub.subscribe(audit, to: (any Auditor).self)
    ServiceContext.withValue(.of("r7")) {
      hub.notify((any Auditor).self) { $0.note("r7") }
    }
    hub.notify((any Auditor).self) { $0.note("nobody") }
    await hub.notifyAndWait((any Auditor).self) { $0.note("nobody") }
    let none = Entry(poster: "nobody", seen: nil)
    #expect(audit.entries.history == [Entry(poster: "r7", seen: "r7"), none, none])
  }

  @Test("two posters at once have their own contexts each")
  func twoPosters() async {
    let hub = makeHub(isPropagating: true)
    hub.subscribe(audit, to: (any Auditor).self)
    await withTaskGroup { group in
      for poster in ["r7", "r8"] {
        group.addTask {
          await ServiceContext.withValue(.of(poster)) {
            for _ in 0..<100 {
              hub.notify((any Auditor).self) { $0.note(poster) }
              hub.notify((any Auditor).self) { await $0.noteTwice(poster) }
              await Task.yield()
            }
          }
        }
      }
    }
    #expect(await hub.drain().isEmpty)
    let entries = audit.entries.history
    #expect(entries.filter { $0 == Entry(poster: "r7", seen: "r7") }.count == 300)
    #expect(entries.filter { $0 == Entry(poster: "r8", seen: "r8") }.count == 300)
    #expect(entries.count == 600)
  }

  @Test("a context is carried to a handler on an event loop", arguments: [true, false])
  func onAnEventLoop(isPropagating: Bool) async {
    let hub = makeHub(isPropagating: isPropagating)
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    hub.subscribe(audit, to: (any Auditor).self, on: EventLoopTaskExecutor.of(eventLoop))
    await ServiceContext.withValue(.of("r7")) {
      hub.notify((any Auditor).self) { $0.note("r7") }
      await hub.notifyAndWait((any Auditor).self) { await $0.noteTwice("r7") }
    }
    let entry = Entry(poster: "r7", seen: isPropagating ? "r7" : nil)
    #expect(audit.entries.history == [entry, entry, entry])
  }

  @Test("a vote is held in the caller's context without any configuration")
  func vote() async {
    let hub = DelegateHub()
    let pinned = Audit()
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    hub.subscribe(audit, to: (any Auditor).self)
    hub.subscribe(pinned, to: (any Auditor).self, on: EventLoopTaskExecutor.of(eventLoop))
    for poster in ["r7", "r8"] {
      await ServiceContext.withValue(.of(poster)) {
        let isUnanimous = await hub.vote((any Auditor).self) { auditor in
          await auditor.noteTwice(poster)
          return ServiceContext.currentRequest == poster
        }
        #expect(isUnanimous)
      }
    }
    #expect(await hub.vote((any Auditor).self) { _ in ServiceContext.current == nil })
    let expected = ["r7", "r7", "r8", "r8"].map { Entry(poster: $0, seen: $0) }
    #expect(audit.entries.history == expected)
    #expect(pinned.entries.history == expected)
  }
}
