import Delegation
import Dispatch
import Testing

@Suite("Samples of order and isolation", .inTurn)
struct IsolationSamples {
  protocol DownloadDelegate: AnyObject, Sendable {
    func didReceive(_ bytes: Int) async
  }

  @MainActor
  final class ProgressBar: DownloadDelegate {
    private(set) var total = 0
    func didReceive(_ bytes: Int) { total += bytes }  // on the main actor
  }

  actor Tally: DownloadDelegate {
    private(set) var total = 0
    func didReceive(_ bytes: Int) { total += bytes }  // on the actor
  }

  final class Disk: DownloadDelegate {
    func didReceive(_ bytes: Int) { write(bytes) }  // on its queue
  }

  private static let written = Recorder<String>()

  @Test("each is called where it lives")
  func places() async {
    let diskQueue = MarkedQueue.make("disk")
    let hub = DelegateHub()
    let (bar, tally, disk) = (ProgressBar(), Tally(), Disk())
    hub.subscribe(bar, to: DownloadDelegate.self)
    hub.subscribe(tally, to: DownloadDelegate.self)
    hub.subscribe(disk, to: DownloadDelegate.self, on: DispatchQueueExecutor(diskQueue))

    hub[DownloadDelegate.self].notify { await $0.didReceive(4096) }
    await hub.drain()
    #expect(await bar.total == 4096)
    #expect(await tally.total == 4096)
    #expect(Self.written.history == ["4096 on disk"])
  }
}

extension IsolationSamples.Disk {
  fileprivate func write(_ bytes: Int) {
    IsolationSamples.note("\(bytes) on \(MarkedQueue.current)")
  }
}

extension IsolationSamples {
  fileprivate static func note(_ line: String) { written.record(line) }
}
