/// Reads a line word by word.
struct Words {
  private var rest: UnsafeRawBufferPointer.SubSequence

  init(_ line: UnsafeRawBufferPointer.SubSequence) {
    rest = line
  }

  /// What has not been read.
  var remainder: String { String(decoding: rest, as: UTF8.self) }

  mutating func next() -> UnsafeRawBufferPointer.SubSequence {
    let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
    defer { rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...] }
    return rest[..<end]
  }

  /// A number; `nil` if the word is none.
  mutating func nextNumber() -> UInt64? {
    let word = next()
    guard !word.isEmpty else { return nil }
    var number: UInt64 = 0
    for byte in word {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
    }
    return number
  }
}
