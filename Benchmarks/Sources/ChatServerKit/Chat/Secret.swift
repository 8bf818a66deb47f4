/// What nobody gets to see: neither in logs, nor in errors, nor in a debugger's description of what holds it.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  package init(_ text: String) {
    self.text = text
  }

  package var description: String { "(hidden)" }
  package var debugDescription: String { "(hidden)" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
