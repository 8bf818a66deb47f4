import LoopbackCluster

/// A gatekeeper that is no distributed actor, and has an answer to everything.
final class Porter: Gatekeeper {
  private let guests = Locked<[String]>([])
  private let numbers = Locked<[Int]>([])

  var asked: [String] { guests.withLock { $0 } }
  var entered: [Int] { numbers.withLock { $0 } }

  func mayEnter(_ guest: String) async -> Bool {
    guests.withLock { $0.append(guest) }
    return guest != Guest.unwelcome
  }

  func didEnter(_ number: Int) async {
    numbers.withLock { $0.append(number) }
  }
}
