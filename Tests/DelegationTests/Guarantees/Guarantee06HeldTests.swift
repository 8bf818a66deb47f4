import Testing

@testable import Delegation

/// Who gets on, and who does not, while somebody's executor is blocked or suspended.
@Suite("Guarantee 6: nobody's executor holds up anybody", .inTurn)
struct Guarantee06HeldTests {
  /// Who does not get on while somebody's executor is held up.
  static let table: [HeldCase.Owner: Set<HeldScene.Party>] = [
    .caller: [.caller],
    .subscriber: [.caller],
    .hub: [.caller, .vote, .notify],
  ]

  /// Those that a call without a deadline reaches all the same.
  static let reached: [HeldCase.Owner: (sideBySide: Set<String>, inTurn: Set<String>)] = [
    .caller: (["before", "it", "apart", "after"], ["before", "it", "apart", "after"]),
    .subscriber: (["before", "apart", "after"], ["before"]),
    .hub: ([], []),
  ]

  @Test(
    "an executor that stands still holds up those who need it, and nobody else",
    arguments: HeldCase.all)
  func held(case held: HeldCase) async {
    for call in HeldCall.allCases {
      await play(held, call, withinAHandler: false)
    }
  }

  @Test(
    "so does one that stands still in the midst of a handler",
    arguments: HeldCase.all.filter { $0.owner == .subscriber })
  func withinAHandler(case held: HeldCase) async {
    for call in HeldCall.allCases where !call.isBounded {
      await play(held, call, withinAHandler: true)
    }
  }

  private func play(_ held: HeldCase, _ call: HeldCall, withinAHandler: Bool) async {
    let scene = HeldScene(held)
    let task = await scene.call(call, withinAHandler: withinAHandler)
    var stuck = Self.table[held.owner] ?? []
    // A deadline is for the caller to get on, and one who does not wait need not.
    if held.owner != .caller, call.isBounded || call == .notify { stuck.remove(.caller) }
    let attempts = HeldScene.Party.others.map { ($0, scene.begin($0)) }
    for (party, tasks) in attempts where !stuck.contains(party) {
      for task in tasks { await task.value }
    }
    if !stuck.contains(.caller), held.owner != .caller { await task.value }
    let names = Self.reached[held.owner].map { call.isInTurn ? $0.inTurn : $0.sideBySide } ?? []
    if !call.isBounded {
      #expect(Set(await scene.called.history(of: names.count)) == names, "\(call)")
    } else if held.owner == .caller, call.tellsOfTheLate {
      // The deadline comes though the caller cannot go on.
      #expect(await scene.late.history(of: 1).count > 0, "\(call)")
    }
    var gotOn = Set(scene.gotOn.history)
    if held.owner == .caller, call.mayStay(with: held.caller) { gotOn.remove(.caller) }
    #expect(gotOn == Set(HeldScene.Party.allCases).subtracting(stuck), "\(call)")
    #expect(scene.lane.release(), "\(call): somebody waited for the executor")
    for (_, tasks) in attempts { for task in tasks { await task.value } }
    #expect(await scene.end(), "\(call)")
    await task.value
  }
}
