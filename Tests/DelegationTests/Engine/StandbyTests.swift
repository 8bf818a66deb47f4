import Testing

@testable import Delegation

@Suite("Standby: one worker is requested ahead, as long as something is unclaimed")
struct StandbyTests {
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
}
