import DelegationTesting
import Testing

// sample: A model on the main actor
@MainActor
protocol DownloadDelegate: AnyObject, Sendable {
  func didLoad(_ percent: Int)
  func mayDiscard() async -> Bool
}

@MainActor
final class DownloadModel: DownloadDelegate {
  private(set) var title = "waiting"

  func didLoad(_ percent: Int) { title = "\(percent) %" }
  func mayDiscard() async -> Bool { await userAgrees() }
}
// end of sample

extension DownloadModel {
  /// There is no user.
  private func userAgrees() async -> Bool {
    await Gate().pass()
    return true
  }
}

@Suite("Samples of testing a model on the main actor", .inTurn)
@MainActor
struct MainActorSamples {
  @Test("a notification", .timeLimit(.minutes(10)))
  func notification() async {
    // sample: A test on the main actor
    let hub = DelegateHub()  // no manual executor
    let model = DownloadModel()
    hub.subscribe(model, to: DownloadDelegate.self)

    hub[DownloadDelegate.self].notify { @MainActor in $0.didLoad(50) }
    #expect(model.title == "waiting")  // this test has the main actor until it awaits

    #expect(await hub.drain(within: .seconds(60)).isEmpty)
    #expect(model.title == "50 %")
    // end of sample
  }

  @Test("drive on the main thread holds the main actor up, and fails as stuck")
  func driving() {
    let failure = #expect(throws: DriveFailure.self) {
      try ManualExecutor().drive { await MainActor.run {} }
    }
    #expect(failure?.kind == .stuck)
  }
}
