import Delegation
import Testing

@Suite("Samples of forEach", .inTurn)
struct ForEachSamples {
  struct Veto: Error, Equatable {}

  protocol ConnectionDelegate: AnyObject, Sendable {
    func connection(_ connection: Connection, didReceive message: String)
  }
  protocol TransactionObserver: AnyObject, Sendable {
    func willCommit(_ transaction: inout [String]) throws(Veto)
  }
  protocol Service: AnyObject, Sendable {
    func shutdown() async
  }

  private final class Part: ConnectionDelegate, TransactionObserver, Service {
    let name: String
    let told: Recorder<String>
    let isRefusing: Bool

    init(_ name: String, _ told: Recorder<String>, refusing isRefusing: Bool = false) {
      (self.name, self.told, self.isRefusing) = (name, told, isRefusing)
    }

    func connection(_ connection: Connection, didReceive message: String) {
      told.record("\(name) \(message)")
    }
    func willCommit(_ transaction: inout [String]) throws(Veto) {
      if isRefusing { throw Veto() }
      transaction.append(name)
    }
    func shutdown() async { told.record("\(name) ends") }
  }

  final class Connection: Sendable {
    let hub = DelegateHub()

    func handle(_ message: String, _ transaction: inout [String]) throws(Veto) {
      // sample: forEach
      hub[ConnectionDelegate.self].forEach { $0.connection(self, didReceive: message) }
      try hub[TransactionObserver.self].forEach { observer throws(Veto) in
        try observer.willCommit(&transaction)
      }
      // end of sample
    }

    func close() async {
      await hub[Service.self].forEach(reversed: true) { await $0.shutdown() }
    }
  }

  @Test("everybody has the first event before anybody has the second, and the end goes backwards")
  func order() async throws {
    let (connection, told) = (Connection(), Recorder<String>())
    let parts = [Part("a", told), Part("b", told)]
    for part in parts {
      connection.hub.subscribe(
        part, toEachOf: ConnectionDelegate.self, TransactionObserver.self, Service.self)
    }
    var transaction: [String] = []
    try connection.handle("0", &transaction)
    try connection.handle("1", &transaction)
    await connection.close()
    #expect(told.history == ["a 0", "b 0", "a 1", "b 1", "b ends", "a ends"])
    #expect(transaction == ["a", "b", "a", "b"])
  }

  @Test("a veto stops the rest, and keeps its type")
  func veto() {
    let (connection, told) = (Connection(), Recorder<String>())
    let parts = [Part("a", told, refusing: true), Part("b", told)]
    for part in parts { connection.hub.subscribe(part, to: TransactionObserver.self) }
    var transaction: [String] = []
    #expect(throws: Veto()) { try connection.handle("0", &transaction) }
    #expect(transaction == [])
  }
}
