import Foundation

/// `NotificationCenter` with closures, which are called before `post` returns.
final class NotificationCenterPeer: @unchecked Sendable {
  private static let didPerform = Notification.Name("didPerform")

  private let center = NotificationCenter()
  // Unchecked: only written while a contest is set up, from one task, and in deinit.
  private var tokens: [any NSObjectProtocol] = []

  deinit {
    tokens.forEach(center.removeObserver)
  }

  func add(_ listener: any Listener) {
    let token = center.addObserver(forName: Self.didPerform, object: nil, queue: nil) {
      [weak listener] notification in
      if let request = notification.userInfo?["request"] as? Request {
        listener?.didPerform(request)
      }
    }
    tokens.append(token)
  }

  func post(_ request: Request) {
    center.post(name: Self.didPerform, object: nil, userInfo: ["request": request])
  }
}
