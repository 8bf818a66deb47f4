internal import Synchronization

/// The topics of one hub, which every thread finds without a lock.
///
/// They are a binary tree by the bits of the keys' hashes: a topic is added at an empty place, and stays there until
/// the hub is released. So a look-up takes a few steps more for many protocols than for one.
struct TopicTable: ~Copyable, Sendable {
  private let root = SetOnce<Topic>()

  /// The topic of a protocol, if anybody has ever subscribed to it.
  func find(_ key: ObjectIdentifier) -> Topic? {
    var next = root.load()
    var bits = Self.hash(key)
    while let topic = next, topic.key != key {
      next = topic.next(bits)
      bits <<= 1
    }
    return next
  }

  /// The topic of a protocol; makes it if there is none.
  func find(_ type: Any.Type, owner: any TopicOwner) -> Topic {
    let key = ObjectIdentifier(type)
    if let topic = find(key) { return topic }
    let new = Topic(type, owner: owner)
    var topic = root.set(new)
    var bits = Self.hash(key)
    while topic.key != key {
      topic = topic.next(bits, orAdding: new)
      bits <<= 1
    }
    return topic
  }

  /// All topics, in the order in which they were made.
  var all: [Topic] {
    var topics = [root.load()].compactMap(\.self)
    var visited = 0
    while visited < topics.count {
      topics += [topics[visited].next(0), topics[visited].next(.max)].compactMap(\.self)
      visited += 1
    }
    return topics.sorted { $0.number < $1.number }
  }

  /// Addresses differ above their alignment; the golden ratio spreads them over the upper bits.
  private static func hash(_ key: ObjectIdentifier) -> UInt64 {
    UInt64(UInt(bitPattern: key)) &* 0x9E37_79B9_7F4A_7C15
  }
}
