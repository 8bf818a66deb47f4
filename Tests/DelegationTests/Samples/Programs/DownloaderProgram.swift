import Delegation
import Dispatch
import Testing

@Suite("A program: a class with a multicast delegate, from Objective-C", .inTurn)
struct DownloaderProgram {
  protocol DownloaderDelegate: AnyObject, Sendable {
    func downloader(_ downloader: Downloader, didBegin file: String)
    func downloader(_ downloader: Downloader, didFinish file: String)
  }

  // The optional methods: one tells, one asks with YES as its default, one asks until a delegate answers.
  protocol DownloaderProgress: AnyObject, Sendable {
    func downloader(_ downloader: Downloader, didReach percent: Int)
  }
  protocol DownloaderRetrying: AnyObject, Sendable {
    func downloader(_ downloader: Downloader, shouldRetry file: String) async -> Bool
  }
  protocol DownloaderNaming: AnyObject, Sendable {
    func downloader(_ downloader: Downloader, nameFor file: String) async -> String?
  }

  // It passes itself to its delegates, so it has to be `Sendable`.
  final class Downloader: Sendable {
    private let delegates = Delegates<any DownloaderDelegate>()

    // sample: A class with a multicast delegate
    func addDelegate(_ delegate: any DownloaderDelegate, delegateQueue: DispatchQueue) {
      delegates.registry.subscribe(delegate, on: DispatchQueueExecutor(delegateQueue))
    }
    func removeDelegate(_ delegate: any DownloaderDelegate) {
      delegates.registry.unsubscribe(delegate)
    }

    /// Whether anybody responds to `downloader:didReach:`.
    var showsProgress: Bool { !delegates.conforming(to: DownloaderProgress.self).isEmpty }
    // end of sample

    /// The name under which a file is stored; `nil` if it has failed too often.
    func download(_ file: String, failures: Int = 0) async -> String? {
      delegates.notify { $0.downloader(self, didBegin: file) }
      for percent in [0, 50, 100] {
        delegates.conforming(to: DownloaderProgress.self)
          .notify { $0.downloader(self, didReach: percent) }
      }
      for _ in 0..<failures {
        let again = await delegates.conforming(to: DownloaderRetrying.self).vote {
          await $0.downloader(self, shouldRetry: file)
        }
        guard again else { return nil }
      }
      let name = await delegates.conforming(to: DownloaderNaming.self)
        .askInTurn { await $0.downloader(self, nameFor: file) }
      delegates.notify { $0.downloader(self, didFinish: file) }
      return name ?? file
    }

    func settle() async { await delegates.hub.drain() }
  }

  // Its state is used only on its serial queue, on which it is subscribed. The compiler cannot see that.
  final class Panel: DownloaderDelegate, DownloaderProgress, @unchecked Sendable {
    let queue = DispatchQueue(label: "panel")
    private var lines: [String] = []

    func downloader(_ downloader: Downloader, didBegin file: String) { say("begin \(file)") }
    func downloader(_ downloader: Downloader, didFinish file: String) { say("finish \(file)") }
    func downloader(_ downloader: Downloader, didReach percent: Int) { say("\(percent) %") }

    private func say(_ line: String) {
      dispatchPrecondition(condition: .onQueue(queue))
      lines.append(line)
    }
    func read() -> [String] { queue.sync { lines } }
  }

  /// Has the required methods and the two that are asked.
  private final class Archive: DownloaderDelegate, DownloaderRetrying, DownloaderNaming {
    let events = Recorder<String>()

    func downloader(_ downloader: Downloader, didBegin file: String) { say("begin \(file)") }
    func downloader(_ downloader: Downloader, didFinish file: String) { say("finish \(file)") }
    func downloader(_ downloader: Downloader, shouldRetry file: String) async -> Bool {
      MarkedQueue.current == "archive" && file != "broken"
    }
    func downloader(_ downloader: Downloader, nameFor file: String) async -> String? {
      file == "a.zip" ? "archive" : nil
    }
    private func say(_ line: String) { events.record("\(line) on \(MarkedQueue.current)") }
  }

  /// Has the required methods alone.
  private final class Plain: DownloaderDelegate {
    let events = Recorder<String>()

    func downloader(_ downloader: Downloader, didBegin file: String) { events.record("begin") }
    func downloader(_ downloader: Downloader, didFinish file: String) { events.record("finish") }
  }

  @Test("required and optional methods come in the order in which they are called, on the queue")
  func order() async {
    let downloader = Downloader()
    let (panel, archive) = (Panel(), Archive())
    downloader.addDelegate(panel, delegateQueue: panel.queue)
    downloader.addDelegate(archive, delegateQueue: MarkedQueue.make("archive"))
    let files = (0..<50).map { "\($0).zip" }
    for file in files { _ = await downloader.download(file) }
    await downloader.settle()
    #expect(
      panel.read() == files.flatMap { ["begin \($0)", "0 %", "50 %", "100 %", "finish \($0)"] })
    #expect(
      archive.events.history
        == files.flatMap { ["begin \($0) on archive", "finish \($0) on archive"] })
  }

  @Test("an optional method that nobody has is answered by its default")
  func defaults() async {
    let downloader = Downloader()
    let plain = Plain()
    downloader.addDelegate(plain, delegateQueue: MarkedQueue.make("plain"))
    #expect(!downloader.showsProgress)
    #expect(await downloader.download("a.zip", failures: 3) == "a.zip")
    await downloader.settle()
    #expect(plain.events.history == ["begin", "finish"])
  }

  @Test("optional methods are asked of those that have them, on their queue")
  func asked() async {
    let downloader = Downloader()
    let (panel, archive, plain) = (Panel(), Archive(), Plain())
    let queue = MarkedQueue.make("archive")
    downloader.addDelegate(plain, delegateQueue: queue)
    downloader.addDelegate(archive, delegateQueue: queue)
    downloader.addDelegate(panel, delegateQueue: panel.queue)
    #expect(downloader.showsProgress)
    #expect(await downloader.download("a.zip", failures: 2) == "archive")
    #expect(await downloader.download("b.zip", failures: 2) == "b.zip")
    #expect(await downloader.download("broken", failures: 1) == nil)
    await downloader.settle()
  }

  @Test("a delegate that is added twice is called once, and one that is removed not at all")
  func twiceAndRemoved() async {
    let downloader = Downloader()
    let panel = Panel()
    downloader.addDelegate(panel, delegateQueue: panel.queue)
    downloader.addDelegate(panel, delegateQueue: panel.queue)
    _ = await downloader.download("a")
    await downloader.settle()
    downloader.removeDelegate(panel)
    _ = await downloader.download("b")
    await downloader.settle()
    #expect(panel.read() == ["begin a", "0 %", "50 %", "100 %", "finish a"])
    #expect(!downloader.showsProgress)
  }
}
