import ServiceContextModule

/// The request on whose behalf something is done, as a server keeps it in its service context.
private enum RequestKey: ServiceContextKey {
  typealias Value = String
}

extension ServiceContext {
  /// The name of the request.
  var request: String? {
    get { self[RequestKey.self] }
    set { self[RequestKey.self] = newValue }
  }

  /// A context of a request.
  static func of(_ request: String) -> ServiceContext {
    var context = ServiceContext.topLevel
    context.request = request
    return context
  }

  /// The name of the request in the present context; `nil` if there is no context at all.
  static var currentRequest: String? {
    current.map { $0.request ?? "a context without a request" }
  }
}
