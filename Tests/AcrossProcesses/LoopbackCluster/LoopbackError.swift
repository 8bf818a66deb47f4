/// Why a remote call has no result.
package enum LoopbackError: Error, Hashable, Sendable {
  /// The connection could not be made, or ended before the answer came.
  case connectionLost
  /// The process that answered knows no such actor.
  case unknownActor(LoopbackID)
  /// The actor threw an error, which is described.
  case thrown(String)
  /// What came cannot be understood.
  case malformed
  /// A call of the operating system failed.
  case system(call: String, code: Int32)
}
