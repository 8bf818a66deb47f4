import Delegation
import Testing

@Suite("Samples of moving from an array", .inTurn)
struct MovingFromAnArraySamples {
  protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
    func didEnter(_ guest: String) async
  }

  private final class Bouncer: DoorDelegate {
    let seen = Recorder<String>()
    func mayEnter(_ guest: String) async -> Bool { guest != "Mallory" }
    func didEnter(_ guest: String) async { seen.record(guest) }
  }

  private enum Before {
    // sample: Before: an array
    actor Door {
      private struct Box {
        weak var delegate: (any DoorDelegate)?
      }
      private var boxes: [Box] = []

      func add(_ delegate: any DoorDelegate) {
        boxes.removeAll { $0.delegate == nil }
        boxes.append(Box(delegate: delegate))
      }

      func remove(
        _ delegate: any DoorDelegate
      ) {
        boxes.removeAll {
          $0.delegate === delegate
        }
      }

      func admit(
        _ guest: String
      ) async -> Bool {
        let all = boxes.compactMap(\.delegate)
        let isAllowed = await withTaskGroup(
          of: Bool.self
        ) { group in
          for delegate in all {
            group.addTask {
              await delegate.mayEnter(guest)
            }
          }
          return await group.allSatisfy { $0 }
        }
        guard isAllowed else { return false }
        for delegate in all {
          Task {
            await delegate.didEnter(guest)
          }
        }
        return true
      }
    }
    // end of sample
  }

  private enum After {
    // sample: After: a hub for the array
    final class Door: Sendable {
      let hub = DelegateHub()

      func admit(
        _ guest: String
      ) async -> Bool {
        let isAllowed = await hub.vote(
          DoorDelegate.self
        ) { await $0.mayEnter(guest) }
        guard isAllowed else { return false }
        hub.notify(DoorDelegate.self) {
          await $0.didEnter(guest)
        }
        return true
      }
    }
    // end of sample
  }

  @Test("before and after agree")
  func agree() async {
    let (old, new) = (Bouncer(), Bouncer())
    let before = Before.Door()
    await before.add(old)
    let after = After.Door()
    let door = after
    let delegate = new
    // sample: Subscribing at the door
    door.hub.subscribe(delegate, to: DoorDelegate.self)
    // end of sample
    for guest in ["Alice", "Mallory"] {
      #expect(await before.admit(guest) == (guest == "Alice"))
      #expect(await after.admit(guest) == (guest == "Alice"))
    }
    await after.hub.drain()
    #expect(new.seen.history == ["Alice"])
    #expect(await old.seen.history(of: 1) == ["Alice"])
    await before.remove(old)
    after.hub.unsubscribe(new)
    #expect(await before.admit("Mallory"))
    #expect(await after.admit("Mallory"))
  }

  // MARK: A model and its views

  // sample: After: a model on the main actor
  @MainActor
  protocol ModelDelegate: AnyObject, Sendable {
    func model(_ model: Model, didChangeTo value: Int)
  }

  @MainActor
  final class Model {
    private let delegates = Delegates<any ModelDelegate>()
    var observers: DelegateRegistry<any ModelDelegate> { delegates.registry }

    var value = 0 {
      didSet {
        delegates.notify { @MainActor [value] in $0.model(self, didChangeTo: value) }
      }
    }
  }
  // end of sample

  @MainActor
  private final class View: ModelDelegate {
    let values = Recorder<Int>()
    func model(_ model: Model, didChangeTo value: Int) { values.record(value) }
  }

  @Test("views are told on the main actor, in order and later")
  @MainActor
  func model() async {
    let (model, view) = (Model(), View())
    model.observers.subscribe(view)
    for value in 1...3 { model.value = value }
    // The main actor is here.
    #expect(view.values.history == [])
    #expect(await view.values.history(of: 3) == [1, 2, 3])
  }
}
