import Synchronization
public import Tracing

/// A span of a ``SpanBook``.
public final class BookedSpan: Span {
  /// The caller's context, with this span in it.
  public let context: ServiceContext
  /// `nil` once it has ended.
  private let line: Mutex<SpanBook.Line?>
  private let onEnd: @Sendable (SpanBook.Line) -> Void

  init(
    _ line: SpanBook.Line, context: ServiceContext,
    onEnd: @escaping @Sendable (SpanBook.Line) -> Void
  ) {
    self.line = Mutex(line)
    self.context = context
    self.onEnd = onEnd
  }

  /// Whether it has yet to end.
  public var isRecording: Bool { line.withLock { $0 != nil } }

  /// What is done meanwhile.
  public var operationName: String {
    get { line.withLock { $0?.name } ?? "" }
    set { line.withLock { $0?.name = newValue } }
  }

  /// What is known of it.
  public var attributes: SpanAttributes {
    get { line.withLock { $0?.attributes } ?? [:] }
    set { line.withLock { $0?.attributes = newValue } }
  }

  /// Takes note of a status that is an error.
  public func setStatus(_ status: SpanStatus) {
    guard status.code == .error else { return }
    let text = status.message ?? "no message"
    line.withLock { line in
      // An error that was recorded says more.
      if line?.error == nil { line?.error = text }
    }
  }

  /// Takes note of an error.
  public func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    let text = "\(error)"
    line.withLock { $0?.error = text }
  }

  /// Does nothing: events are not kept.
  public func addEvent(_ event: SpanEvent) {}

  /// Does nothing: links are not kept.
  public func addLink(_ link: SpanLink) {}

  /// Ends it, the first time.
  public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let end = instant().nanosecondsSinceEpoch
    let ended = line.withLock { $0.take() }
    guard var ended else { return }
    ended.end = end
    onEnd(ended)
  }
}
