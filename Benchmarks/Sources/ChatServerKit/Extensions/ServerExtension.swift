import Dispatch

/// A part of the server that can be added and removed while it runs.
///
/// What it does it says by conforming to protocols below `Delegates`.
protocol ServerExtension: AnyObject, Sendable {
  /// What it is called in commands.
  var name: String { get }
  /// Made in the extension's own file, which statistics and incidents name by it.
  var options: ExtensionOptions { get }
}

/// How an extension wants to be called.
struct ExtensionOptions: Sendable {
  /// Higher is asked and told first.
  let priority: Int
  /// Where it is called, if it blocks its thread.
  let queue: DispatchQueue?
  /// How many notifications may wait for it; what comes then is lost.
  let backlog: Int?
  /// The place in the source that it is known by.
  let fileID: StaticString
  let line: UInt

  init(
    priority: Int = 0, queue: DispatchQueue? = nil, backlog: Int? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.priority = priority
    self.queue = queue
    self.backlog = backlog
    self.fileID = fileID
    self.line = line
  }
}
