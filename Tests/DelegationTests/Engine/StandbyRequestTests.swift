import Testing

@testable import Delegation

@Suite("StandbyRequest: one worker at a time asks for the standby", .inTurn)
struct StandbyRequestTests {
  @Test("while one is requested and has not begun, nobody requests another")
  func alone() {
    var request = StandbyRequest()
    var answers = [
      request.start(ifNeeded: false), request.start(ifNeeded: true),
      request.mustRepeat(ifNeeded: true), request.start(ifNeeded: true),
    ]
    #expect(answers == [false, true, false, false])
    request.begin()
    answers = [request.start(ifNeeded: true), request.mustRepeat(ifNeeded: true)]
    #expect(answers == [true, false])
  }

  @Test(
    "one that begins meanwhile leaves the asking to it, which asks again if need be",
    arguments: [false, true])
  func overtaken(isNeeded: Bool) {
    var request = StandbyRequest()
    let isAsking = request.start(ifNeeded: true)
    request.begin()
    let answers = [
      request.start(ifNeeded: true), request.mustRepeat(ifNeeded: isNeeded),
      request.mustRepeat(ifNeeded: true), request.start(ifNeeded: true),
    ]
    #expect(isAsking)
    #expect(answers == (isNeeded ? [false, true, false, false] : [false, false, true, false]))
  }

  private struct Work: Claimable {
    var cursor: Cursor
  }

  @Test("for one that claims the last piece nobody stands by", arguments: 0...2)
  func lastPiece(unclaimed: Int) {
    let cast = Cast(unclaimed)
    let work = Lock(Work(cursor: Cursor(cast.nodes)))
    var requests = 0
    let claim = work.begin { requests += 1 }
    #expect(claim?.position == (unclaimed > 0 ? 0 : nil))
    #expect(requests == (unclaimed > 1 ? 1 : 0))
    withExtendedLifetime(cast) {}
  }

  @Test("what is added has a standby requested, once, and again when that has begun")
  func added() {
    let cast = Cast(3)
    let work = Lock(Work(cursor: Cursor([])))
    var requests = 0
    func add(_ index: Int) {
      work.provideStandby(after: { $0.append(cast.nodes[index]) }) { requests += 1 }
    }
    for index in 0..<2 { add(index) }
    #expect(requests == 1)
    var claims = [work.claim(), work.begin { requests += 1 }, work.claim()]
    #expect(requests == 1)
    add(2)
    #expect(requests == 2)
    claims.append(work.claim())
    let expected = [cast.nodes[0], cast.nodes[1], nil, cast.nodes[2]]
    #expect(zip(claims, expected).allSatisfy { $0?.node === $1 })
    withExtendedLifetime(cast) {}
  }

  @Test("a standby that begins and claims while it is being requested has no other one requested")
  func claimedMeanwhile() {
    let cast = Cast(1)
    let work = Lock(Work(cursor: Cursor([])))
    var requests = 0
    work.provideStandby(after: { $0.append(cast.nodes[0]) }) {
      requests += 1
      let claim = work.begin { requests += 1 }
      #expect(claim?.position == 0)
    }
    #expect(requests == 1)
    withExtendedLifetime(cast) {}
  }
}
