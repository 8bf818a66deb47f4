import ServiceContextModule

/// Which line of which connection something is done for.
private enum RequestKey: ServiceContextKey {
  typealias Value = String
}

extension ServiceContext {
  var request: String? {
    get { self[RequestKey.self] }
    set { self[RequestKey.self] = newValue }
  }
}
