import Testing

@testable import Delegation

@Suite("Identity: who a subscriber is when that is not its object", .inTurn)
struct IdentityTests {
  @Test("identities match if their values are equal")
  func matching() {
    let all: [any Hashable & Sendable] = [
      1, 2, "1", "2", Character("1"), Named(name: "1"), Named(name: "2"), [1], [1, 2], [1: "2"],
      Set([1]), Optional<String>.none, true, 1.5, 0..<1,
    ]
    for (row, one) in all.enumerated() {
      for (column, other) in all.enumerated() {
        #expect(
          Identity(one).matches(Identity(other)) == (row == column), "\(one) and \(other)")
      }
    }
  }

  @Test("values of different types match if they are the same key of a dictionary")
  func acrossTypes() {
    let ones: [any Hashable & Sendable] = [
      1, UInt(1), Int8(1), UInt64(1), 1.0, Float(1), Optional(1), "1", Optional("1"),
      Substring("1"),
    ]
    let mistaken = ones.indices.flatMap { row in
      ones.indices.filter { column in
        let areSame = AnyHashable(ones[row]) == AnyHashable(ones[column])
        return row < column && Identity(ones[row]).matches(Identity(ones[column])) != areSame
      }.map { "\(type(of: ones[row])) and \(type(of: ones[$0]))" }
    }
    #expect(mistaken == [])
  }

  @Test("a remote actor's id is another one in each system, and who unsubscribes an id means all")
  func remote() {
    let systems = [ObjectIdentifier(Named.self), ObjectIdentifier(Colliding.self)]
    let remote = systems.map { Identity(RemoteID("a", in: $0)) }
    #expect(remote.map(\.description) == ["a", "a"])
    let again = Identity(RemoteID("a", in: systems[0]))
    let (plain, other) = (Identity("a"), Identity(RemoteID("b", in: systems[0])))
    #expect(remote.map { $0.matches(again) } == [true, false])
    #expect(remote.map { $0.isMeant(by: again) } == [true, false])
    #expect(remote.map { $0.matches(plain) } == [false, false])
    #expect(remote.map { $0.isMeant(by: plain) } == [true, true])
    #expect(!other.matches(again) && !other.isMeant(by: plain))
    #expect(!plain.matches(again) && !plain.isMeant(by: again))
  }

  @Test("equal values have equal hashes")
  func hashes() {
    #expect(Identity("a" + "b").hash == Identity("ab").hash)
    #expect(Identity(Named(name: "ab")).hash == Identity(Named(name: "ab")).hash)
  }

  @Test("values of one hash are told apart")
  func collisions() {
    let one = Identity(Colliding(name: "one"))
    let other = Identity(Colliding(name: "other"))
    #expect(one.hash == other.hash)
    #expect(!one.matches(other))
    #expect(one.matches(Identity(Colliding(name: "one"))))
  }

  @Test("the value is hashed when the identity is made, compared only if the hashes are equal")
  func usersCode() {
    let calls = Recorder<String>()
    let one = Identity(Traced(name: "one", calls: calls))
    #expect(calls.history == ["hash one"])
    let other = Identity(Traced(name: "other", calls: calls))
    let twin = Identity(Traced(name: "one", calls: calls))
    #expect(calls.history == ["hash one", "hash other", "hash one"])
    #expect(!one.matches(other))
    #expect(calls.history.count == 3)
    #expect(one.matches(twin))
    #expect(calls.history.dropFirst(3).allSatisfy { $0 == "compare one and one" })
    #expect(calls.history.count > 3)
  }

  @Test("it describes itself as its value does")
  func description() {
    #expect(Identity("night shift").description == "night shift")
    #expect(Identity(7).description == "7")
  }
}

private struct Named: Hashable, Sendable {
  var name: String
}

private struct Colliding: Hashable, Sendable {
  var name: String

  func hash(into hasher: inout Hasher) {
    hasher.combine(0)
  }
}

/// A value that tells when it is hashed or compared.
private struct Traced: Hashable, Sendable {
  var name: String
  var calls: Recorder<String>

  static func == (one: Traced, other: Traced) -> Bool {
    one.calls.record("compare \(one.name) and \(other.name)")
    return one.name == other.name
  }

  func hash(into hasher: inout Hasher) {
    calls.record("hash \(name)")
    hasher.combine(name)
  }
}
