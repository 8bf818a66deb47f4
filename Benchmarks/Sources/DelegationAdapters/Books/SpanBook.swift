import Synchronization
public import Tracing

/// Keeps the last spans in memory, to be looked at as text: each under the one that caused it.
///
/// A server in earnest hands them to OpenTelemetry by a tracer of its; until then this one shows what it would get:
///
/// ```swift
/// let spans = SpanBook()
/// InstrumentationSystem.bootstrap(spans)
/// var page = HubPageService.Configuration()
/// page.texts["/spans"] = { spans.text }
/// ```
///
/// Spans do not cross processes: nothing is written into requests, or read from them.
public final class SpanBook: Tracer {
  /// A span as it is when it has ended.
  struct Line {
    let id: Int
    let parent: Int?
    let start: UInt64
    var end: UInt64 = 0
    var name: String
    var attributes = SpanAttributes()
    var error: String?
  }

  private struct State {
    var next = 0
    /// The last that have ended, in a ring.
    var ended: [Line] = []
    var oldest = 0
  }

  private let limit: Int
  private let state = Mutex(State())

  /// Makes a book without spans.
  ///
  /// - Parameter limit: how many spans it keeps of those that have ended.
  public init(limit: Int = 1000) {
    self.limit = max(limit, 1)
  }

  /// Begins a span.
  public func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> BookedSpan {
    var context = context()
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    let line = Line(
      id: id, parent: context[SpanKey.self], start: instant().nanosecondsSinceEpoch,
      name: operationName)
    context[SpanKey.self] = id
    return BookedSpan(line, context: context) { [weak self] in self?.add($0) }
  }

  /// Does nothing: nothing leaves the process.
  public func forceFlush() {}

  /// Does nothing: nothing leaves the process.
  public func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {}

  /// Does nothing: nothing comes from other processes.
  public func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}

  private func add(_ line: Line) {
    let former = state.withLock { state -> Line? in
      guard state.ended.count == limit else {
        state.ended.append(line)
        return nil
      }
      defer { state.oldest = (state.oldest + 1) % limit }
      defer { state.ended[state.oldest] = line }
      return state.ended[state.oldest]
    }
    withExtendedLifetime(former) {}
  }

  /// The spans that have ended, the latest cause first, each with its time, its attributes and its error.
  public var text: String {
    let lines = state.withLock { $0.ended }.sorted { $0.id < $1.id }
    let known = Set(lines.map(\.id))
    let children = Dictionary(grouping: lines) { line in
      line.parent.flatMap { known.contains($0) ? $0 : nil } ?? 0
    }
    var text = ""
    var rest = (children[0] ?? []).map { ($0, 0) }
    while let (line, depth) = rest.popLast() {
      text += "\(String(repeating: "  ", count: depth))\(line.description)\n"
      rest += (children[line.id] ?? []).reversed().map { ($0, depth + 1) }
    }
    return text.isEmpty ? "no span has ended\n" : text
  }
}

private enum SpanKey: ServiceContextKey {
  typealias Value = Int
}

extension SpanBook.Line: CustomStringConvertible {
  var description: String {
    var words = [name, "\(Duration.nanoseconds(end > start ? end - start : 0))"]
    attributes.forEach { key, value in words.append("\(key)=\(Self.text(value))") }
    words[2...].sort()
    if let error { words.append("error: \(error)") }
    return words.joined(separator: "  ")
  }

  private static func text(_ value: SpanAttribute) -> String {
    switch value {
    case .string(let text): text
    case .int32(let number): "\(number)"
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let value): "\(value)"
    default: "\(value)"
    }
  }
}
