import Foundation

/// `NotificationCenter` with typed messages, which are delivered after `post` has returned.
final class AsyncMessagePeer: @unchecked Sendable {
  private final class Server: Sendable {}

  private struct DidPerform: NotificationCenter.AsyncMessage {
    typealias Subject = Server
    let request: Request
  }

  private let center = NotificationCenter()
  private let server = Server()
  // Unchecked: only written while a contest is set up, from one task, and in deinit.
  private var tokens: [NotificationCenter.ObservationToken] = []

  deinit {
    tokens.forEach(center.removeObserver)
  }

  func add(_ listener: any Listener) {
    let token = center.addObserver(of: server, for: DidPerform.self) { [weak listener] message in
      listener?.didPerform(message.request)
    }
    tokens.append(token)
  }

  func post(_ request: Request) {
    center.post(DidPerform(request: request), subject: server)
  }
}
