// Mistakes that clients make. The compiler refuses each marked line, on that line, with these words, and no other line.
import Delegation

protocol Door: AnyObject, Sendable {
  func open() async -> Bool
  func didOpen()
}

final class Gate: Door {
  func open() async -> Bool { true }
  func didOpen() {}
}

final class Lamp: Sendable {}

func noProtocol(hub: DelegateHub, gate: Gate) {
  hub.subscribe(gate)  // refused: missing argument for parameter 'to'
  hub.subscribe(gate, Door.self)  // refused: missing argument label 'to:'
  hub.notify { $0.didOpen() }  // refused: no member 'notify'
}

func noSubscriber(doors: Delegates<any Door>, lamp: Lamp) {
  doors.subscribe(lamp)  // refused: does not conform to expected type 'Door'
}

func noEvents(doors: Delegates<any Door>, events: Events<Int>) {
  doors.observe { print($0) }  // refused: requires the types 'any Door' and 'any EventReceiver<
  events.post("one")  // refused: cannot convert value of type 'String'
  events.registry.post(1)  // refused: no member 'post'
}

func noLoop(events: Events<Int>) async {
  for event in events.stream() { print(event) }  // refused: to conform to 'Sequence'
}

func noAwait(doors: Delegates<any Door>) async {
  print(doors.vote { await $0.open() })  // refused: 'async' but is not marked with 'await'
}

func noCombiner(doors: Delegates<any Door>) async {
  print(await doors.ask { await $0.open() })  // refused: missing argument for parameter 'combining'
}

func removed(hub: DelegateHub, gate: Gate) {
  hub.unsubscribe(gate, from: Door.self)  // refused: extra argument 'from'
}
