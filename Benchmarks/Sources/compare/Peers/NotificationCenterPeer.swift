import Foundation

/// `NotificationCenter` with closures, which are called before `post` returns.
final class NotificationCenterPeer: @unchecked Sendable {
  private static let didPerform = Notification.Name("didPerform")

  // Unchecked: the center locks by itself, but its type does not say so. Its observers go with it.
  private let center = NotificationCenter()

  @discardableResult
  func add(_ listener: any Listener) -> any NSObjectProtocol {
    center.addObserver(forName: Self.didPerform, object: nil, queue: nil) {
      [weak listener] notification in
      if let request = notification.userInfo?["request"] as? Request {
        listener?.didPerform(request)
      }
    }
  }

  func remove(_ token: any NSObjectProtocol) {
    center.removeObserver(token)
  }

  func post(_ request: Request) {
    center.post(name: Self.didPerform, object: nil, userInfo: ["request": request])
  }
}
