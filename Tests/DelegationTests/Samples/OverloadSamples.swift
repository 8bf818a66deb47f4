import Delegation
import Testing

@Suite("Samples of back-pressure and overload", .inTurn)
struct OverloadSamples {
  private protocol Telemetry: AnyObject, Sendable {
    func didMeasure(_ value: Int) async
  }

  private final class Instrument: Telemetry {
    let gate = Gate()
    let values = Recorder<Int>()

    func didMeasure(_ value: Int) async {
      await gate.pass()
      values.record(value)
    }
  }

  @Test("policies say what is dropped")
  func policies() async {
    let hub = DelegateHub()
    let (archive, dashboard, recorder) = (Instrument(), Instrument(), Instrument())
    let logger = Logger()
    // sample: Policies
    // All of them wait, however many there are.
    hub.subscribe(archive, to: Telemetry.self)
    // Only the newest waits.
    hub.subscribe(dashboard, to: Telemetry.self, mailbox: .latest)
    // Two wait; when one more comes, the oldest is dropped.
    hub.subscribe(recorder, to: Telemetry.self, mailbox: .dropOldest(limit: 2))
    // end of sample
    hub[Telemetry.self].notify { await $0.didMeasure(0) }
    for instrument in [archive, dashboard, recorder] { await instrument.gate.arrivals() }
    for value in 1...9 { hub[Telemetry.self].notify { await $0.didMeasure(value) } }
    await watch(hub, limit: 8, logger)
    #expect(logger.lines.history.count == 1)
    #expect(logger.lines.history.first?.hasSuffix("Instrument is 9 behind") == true)
    for instrument in [archive, dashboard, recorder] { instrument.gate.open() }
    await hub.drain()
    #expect(archive.values.history == Array(0...9) && dashboard.values.history == [0, 9])
    #expect(recorder.values.history == [0, 8, 9] && hub.statistics().counts.dropped == 8 + 7)
  }

  private func watch(_ hub: DelegateHub, limit: Int, _ logger: Logger) async {
    for telemetry in hub.statistics().protocols {
      for subscriber in telemetry.subscribers where subscriber.counts.waiting > limit {
        logger.warning("\(subscriber.subscriber) is \(subscriber.counts.waiting) behind")
      }
    }
  }
}
