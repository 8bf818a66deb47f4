/// The handler that awaits a question, if one does.
///
/// It is cleared when the question is decided or done: then that handler goes on, and is not kept any more.
final class Caller: Sendable {
  private let context: Lock<HandlerContext?>
  /// The number of nested rounds.
  let depth: Int

  /// Whether it is nested in so few others that the stack is sure to be large enough.
  ///
  /// At greater depth nothing is started in the caller's place, nor cancelled in the place of who cancels the caller:
  /// each nested round would do so within the one before, and use up the stack.
  var isShallow: Bool { depth < 16 }

  /// The caller for code outside of any handler.
  private static let outermost = Caller(nil)

  /// A caller for the handler that the current task runs in, if that has not returned.
  static var present: Caller {
    guard let current = HandlerContext.current, current.isRunning else { return outermost }
    return Caller(current)
  }

  private init(_ context: HandlerContext?) {
    self.context = Lock(context)
    depth = (context?.worker.caller?.depth ?? 0) + 1
  }

  var awaiting: HandlerContext? { self === Self.outermost ? nil : context.withLock { $0 } }

  func clear() {
    // The shared one has nothing to clear, and its lock would be contended.
    if self === Self.outermost { return }
    // Released outside the lock.
    let former = context.withLock { $0.take() }
    withExtendedLifetime(former) {}
  }
}
