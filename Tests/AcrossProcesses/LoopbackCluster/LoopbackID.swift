/// Who a distributed actor is: the process it lives in, and its number there.
package struct LoopbackID: Codable, Hashable, Sendable, CustomStringConvertible {
  /// A process, or rather one life of it: who starts anew is somebody else.
  package struct Node: Codable, Hashable, Sendable {
    /// Where it listens on the loopback interface; 0 if it does not.
    package var port: UInt16
    /// What tells apart those who have listened there.
    package var incarnation: UInt64
  }

  package var node: Node
  package var number: UInt64

  package var description: String {
    "\(number)@\(node.port)#\(String(node.incarnation, radix: 16))"
  }
}
