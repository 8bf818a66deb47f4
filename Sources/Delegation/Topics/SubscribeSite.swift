internal import Synchronization

/// The subscribers of one type that one line of the source subscribes to a protocol.
///
/// By it, an incident tells a subscriber that died unheard from one whose like was called.
final class SubscribeSite: Sendable, CustomStringConvertible {
  /// A line of the source.
  struct Line: Sendable, Equatable, CustomStringConvertible {
    private let file: StaticString
    private let line: UInt

    init(file: StaticString, line: UInt) {
      self.file = file
      self.line = line
    }

    var description: String { "\(file):\(line)" }

    static func == (one: Self, other: Self) -> Bool {
      one.line == other.line && (one.place == other.place || "\(one.file)" == "\(other.file)")
    }

    /// Where the file's name is; of the same call it is the same, which spares a comparison of the names.
    private var place: Int {
      file.hasPointerRepresentation
        ? Int(bitPattern: file.utf8Start) : Int(file.unicodeScalar.value)
    }
  }

  let type: any AnyObject.Type
  let line: Line
  /// Whether one of them was called.
  let isCalled = Atomic(false)

  init(_ type: any AnyObject.Type, at line: Line) {
    self.type = type
    self.line = line
  }

  var description: String { line.description }
}
