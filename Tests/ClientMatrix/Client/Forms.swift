import Delegation
import DelegationTesting

// What the table of forms asks, and how it knows which overload a form has taken.

/// An overload of a question, told by where its handlers run.
nonisolated enum Overload {
  /// The closure awaits nothing: in the caller's task.
  case inPlace
  /// The closure awaits nothing and says `@MainActor`: there, in a task of the hub's.
  case onMain
  /// The closure awaits nothing and is on another global actor: there, in a task of the hub's.
  case onOther
  /// The closure awaits: in a task of the hub's, on the pool.
  case awaiting
  /// The closure awaits and says `@MainActor`, or awaits the main actor: where that of `onMain` runs.
  case awaitingOnMain

  /// The only overload of questions that are asked in turn, which awaits: in the caller's task.
  case inTurn

  var visit: ShopVisit {
    switch self {
    case .inPlace, .inTurn: ShopVisit(isInCallersTask: true, place: .pool)
    case .awaiting: ShopVisit(isInCallersTask: false, place: .pool)
    case .onOther: ShopVisit(isInCallersTask: false, place: .other)
    case .onMain, .awaitingOnMain: ShopVisit(isInCallersTask: false, place: .mainActor)
    }
  }
}

/// Where a subscriber was asked.
nonisolated struct ShopVisit: Hashable, Sendable {
  let isInCallersTask: Bool
  let place: Place

  // Each call has its own: a handler may still run when its call is decided.
  @TaskLocal private static var visits = Recorder<(task: Int?, place: Place)>()
  private static var task: Int? { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } }

  /// Notes that a subscriber is asked, whose answer is `true`.
  static func note() -> Bool {
    visits.record((task, .current))
    return true
  }

  /// All different visits of a call, seen by the caller.
  static func during(
    isolation: isolated (any Actor)? = #isolation, _ call: () async -> Void
  ) async -> Set<ShopVisit> {
    let own = Recorder<(task: Int?, place: Place)>()
    await $visits.withValue(own, operation: call)
    return Set(own.clear().map { ShopVisit(isInCallersTask: $0.task == task, place: $0.place) })
  }
}

/// Checks which overload a form takes, and that the outcome is `true`.
///
/// There have to be two subscribers: an only one may be asked in the caller's task by each overload.
func form(
  _ name: String, _ overload: Overload, isolation: isolated (any Actor)? = #isolation,
  line: UInt = #line, file: StaticString = #fileID, _ call: () async throws -> Bool
) async {
  let visits = await ShopVisit.during {
    let isGranted = try? await call()
    Checks.expect(isGranted == true, "\(name): the outcome", line: line, file: file)
  }
  Checks.expect(visits == [overload.visit], "\(name): \(visits)", line: line, file: file)
}

/// Checks which overload a form takes, and that the call throws its handlers' error, with its type.
func form(
  _ name: String, throwing overload: Overload, isolation: isolated (any Actor)? = #isolation,
  line: UInt = #line, file: StaticString = #fileID, _ call: () async throws(Refusal) -> Bool
) async {
  let visits = await ShopVisit.during {
    do throws(Refusal) {
      _ = try await call()
      Checks.expect(false, "\(name): it should have thrown", line: line, file: file)
    } catch {
      Checks.expect(error, is: Refusal(), line: line, file: file)
    }
  }
  Checks.expect(visits == [overload.visit], "\(name): \(visits)", line: line, file: file)
}

nonisolated func forms() async {
  let hub = Market().hub
  await formsThatAwaitNothing(hub)
  await formsWithReferences(hub)
  await formsThatThrow(hub)
  await formsThatAwait(hub)
  await formsOnMainActor(hub)
  await formsOfNarrowed(hub[(any Shop).self])
  await formsFromMainActor(hub)
  await formsOfForEach(hub)
  await formsOfEvents()
}

nonisolated protocol Shop: AnyObject, Sendable {
  var isOpen: Bool { get }
  var sign: String? { get }
  func serves(_ guest: String) -> Bool
  func refuses(_ guest: String) throws(Refusal) -> Bool
  func delivers(to guest: String) async -> Bool
  func fails(_ guest: String) async throws(Refusal) -> Bool
}

nonisolated protocol Bakery: Shop {}

nonisolated final class Baker: Bakery {
  var isOpen: Bool { ShopVisit.note() }
  var sign: String? { ShopVisit.note() ? "bread" : nil }

  func serves(_ guest: String) -> Bool { ShopVisit.note() }
  func delivers(to guest: String) async -> Bool { ShopVisit.note() }

  func refuses(_ guest: String) throws(Refusal) -> Bool {
    if ShopVisit.note() { throw Refusal() }
    return true
  }

  func fails(_ guest: String) async throws(Refusal) -> Bool {
    if ShopVisit.note() { throw Refusal() }
    return true
  }

  static func isBusy(_ shop: any Shop) -> Bool { shop.isOpen }
}

nonisolated struct Guest: Sendable {
  var isRich: Bool { true }
  func likes(_ shop: any Shop) -> Bool { shop.serves("Alice") }
}

/// A protocol of actors.
protocol Till: Actor {
  var isEmpty: Bool { get }
  func counts(to amount: Int) -> Bool
}

actor Drawer: Till {
  var isEmpty: Bool { ShopVisit.note() }
  func counts(to amount: Int) -> Bool { isEmpty }
}

@MainActor
protocol Stall: AnyObject, Sendable {
  var isOpen: Bool { get }
  func loads() async -> Bool
}

@MainActor
final class Booth: Stall {
  nonisolated init() {}

  var isOpen: Bool { ShopVisit.note() }
  func loads() async -> Bool { ShopVisit.note() }
}

/// Two of each kind, and a hub that has them.
nonisolated struct Market: Sendable {
  let hub = DelegateHub(DelegateHub.Configuration(onIncident: { _ in }))

  init() {
    for _ in 0..<2 {
      let (baker, till, booth) = (Baker(), Drawer(), Booth())
      hub.subscribe(baker, to: (any Shop).self, hold: .strongly)
      hub.subscribe(till, to: (any Till).self, hold: .strongly)
      hub.subscribe(booth, to: (any Stall).self, hold: .strongly)
    }
  }
}
