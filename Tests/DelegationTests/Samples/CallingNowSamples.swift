import Delegation
import Testing

@MainActor
protocol StepSubscriber: AnyObject, Sendable {
  func didTake(_ step: Int)
}

// sample: Nested calls that queue
@MainActor
final class Dispatcher {
  let subscribers = Delegates<any StepSubscriber>()
  private var waiting: [Int] = []

  func dispatch(_ step: Int) {
    waiting.append(step)
    guard waiting.count == 1 else { return }  // a handler calls: the outer loop goes on
    while let step = waiting.first {
      subscribers.forEach { $0.didTake(step) }
      waiting.removeFirst()
    }
  }
}
// end of sample

@Suite("Samples of calls that are made now", .inTurn)
struct CallingNowSamples {
  @MainActor
  private final class Stepper: StepSubscriber {
    let name: String
    let log: Recorder<String>
    let dispatcher: Dispatcher

    init(_ name: String, in log: Recorder<String>, of dispatcher: Dispatcher) {
      (self.name, self.log, self.dispatcher) = (name, log, dispatcher)
    }

    func didTake(_ step: Int) {
      log.record("\(name)\(step)")
      if name == "a", step < 3 { dispatcher.dispatch(step + 1) }
    }
  }

  @Test("calls that queue: each subscriber has all steps in their order")
  @MainActor
  func queueing() {
    let (dispatcher, log) = (Dispatcher(), Recorder<String>())
    let steppers = ["a", "b"].map { Stepper($0, in: log, of: dispatcher) }
    for stepper in steppers { dispatcher.subscribers.registry.subscribe(stepper) }
    dispatcher.dispatch(1)
    #expect(log.history == ["a1", "b1", "a2", "b2", "a3", "b3"])
  }
}
