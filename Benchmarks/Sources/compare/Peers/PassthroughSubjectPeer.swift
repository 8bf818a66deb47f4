import OpenCombine

/// OpenCombine's `PassthroughSubject` with a sink for each listener, called before `send` returns.
final class PassthroughSubjectPeer: @unchecked Sendable {
  // Unchecked: the subject locks by itself, but its type does not say so.
  private let subject = PassthroughSubject<Request, Never>()
  // Unchecked: only written while a contest is set up, from one task.
  private var sinks: Set<AnyCancellable> = []

  func add(_ listener: any Listener) {
    subject.sink { [weak listener] request in
      listener?.didPerform(request)
    }.store(in: &sinks)
  }

  func send(_ request: Request) {
    subject.send(request)
  }
}
