import Testing

@testable import Delegation

@Suite("StandbyRequest: one worker at a time asks for the standby", .inTurn)
struct StandbyRequestTests {
  @Test("a standby that begins asks for the next if there is work for it")
  func alone() {
    var request = StandbyRequest.none
    let answers = [
      request.begin(ifNeeded: false), request.begin(ifNeeded: true),
      request.mustRepeat(ifNeeded: true),
    ]
    #expect(answers == [false, true, false])
    #expect(request == .none)
  }

  @Test(
    "one that begins meanwhile leaves the asking to it, which asks again if need be",
    arguments: [false, true])
  func overtaken(isNeeded: Bool) {
    var request = StandbyRequest.none
    let answers = [
      request.begin(ifNeeded: true), request.begin(ifNeeded: true), request.begin(ifNeeded: true),
      request.mustRepeat(ifNeeded: isNeeded), request.mustRepeat(ifNeeded: true),
    ]
    #expect(answers == [true, false, false, isNeeded, false])
    #expect(request == .none)
  }

  /// Work of which so many pieces are left.
  private struct Work: StandbyWork {
    var request = StandbyRequest.none
    let unclaimed: Int
  }

  @Test("for one that will claim the last piece nobody stands by", arguments: 0...2)
  func lastPiece(unclaimed: Int) {
    let work = Lock(Work(unclaimed: unclaimed))
    var requests = 0
    work.provideForSuccessor { requests += 1 }
    #expect(requests == (unclaimed > 1 ? 1 : 0))
  }
}
