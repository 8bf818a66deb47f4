public import Delegation
public import Tracing

/// Makes a span for each handler, by swift-distributed-tracing.
///
/// A span's parent is the caller's. For a notification that is the poster's, if the hub propagates the service
/// context. The handler, and what it calls, find the new span as the current one.
///
/// Names and attributes are by OpenTelemetry's conventions. A handler of a notification is a consumer:
/// `messaging.destination.name` is the protocol, `messaging.operation.name` the call. A handler of a question is an
/// internal span: `rpc.service` is the protocol, `rpc.method` the call. Both have `delegation.subscriber`, those of
/// notifications have `delegation.waited`, the seconds since the post. A handler that throws ends its span with the
/// status *error* and `error.type`, or with `delegation.abandoned` if it was cancelled before; one that is not called
/// has `delegation.called` = `false`.
///
/// ```swift
/// let hub = DelegateHub(
///   .init(
///     propagating: [.taskLocal(ServiceContext.$current)],
///     interceptors: [TracingInterceptor(InstrumentationSystem.tracer)]))
/// ```
public struct TracingInterceptor: DelegateHub.Interceptor {
  private let tracer: any Tracer

  /// Makes an interceptor.
  ///
  /// - Parameter tracer: makes the spans.
  public init(_ tracer: any Tracer) {
    self.tracer = tracer
  }

  /// Runs a handler within a span of its own.
  public nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let span = tracer.startSpan(
      "\(call.call) \(call.protocol)", ofKind: call.waited == nil ? .internal : .consumer)
    defer { span.end() }
    span.updateAttributes { describe(call, in: &$0) }
    let outcome = await ServiceContext.withValue(span.context) { await next() }
    if let error = outcome.error, Task.isCancelled {
      // Nobody wants the answer any more: that is no fault.
      span.recordError(error)
      span.attributes["delegation.abandoned"] = true
    } else if let error = outcome.error {
      span.recordError(error)
      span.setStatus(SpanStatus(code: .error))
      span.attributes["error.type"] = String(reflecting: type(of: error))
    } else if !outcome.isCalled {
      span.attributes["delegation.called"] = false
    }
    return outcome
  }

  private func describe(_ call: DelegateHub.HandlerCall, in attributes: inout SpanAttributes) {
    attributes["delegation.subscriber"] = call.subscriber
    if let waited = call.waited {
      attributes["messaging.system"] = "delegate_hub"
      attributes["messaging.operation.type"] = "process"
      attributes["messaging.operation.name"] = "\(call.call)"
      attributes["messaging.destination.name"] = call.protocol
      attributes["delegation.waited"] = waited / .seconds(1)
    } else {
      attributes["rpc.system"] = "delegate_hub"
      attributes["rpc.service"] = call.protocol
      attributes["rpc.method"] = "\(call.call)"
    }
  }
}
