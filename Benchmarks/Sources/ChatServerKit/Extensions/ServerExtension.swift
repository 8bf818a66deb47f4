import Dispatch

/// A part of the server that can be added and removed while it runs.
///
/// What it does it says by conforming to protocols below `Delegates`.
protocol ServerExtension: AnyObject, Sendable {
  /// What it is called in commands.
  var name: String { get }
  var options: ExtensionOptions { get }
}

extension ServerExtension {
  var options: ExtensionOptions { ExtensionOptions() }
}

/// How an extension wants to be called.
struct ExtensionOptions: Sendable {
  /// Higher is asked and told first.
  var priority = 0
  /// Where it is called, if it blocks its thread.
  var queue: DispatchQueue?
  /// How many notifications may wait for it; what comes then is lost.
  var backlog: Int?
}
