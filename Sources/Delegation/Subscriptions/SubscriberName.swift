/// The name of a subscriber, for people; its text is made each time it is read.
struct SubscriberName: Sendable, CustomStringConvertible {
  let type: any AnyObject.Type
  /// The id, if one was given.
  let id: Identity?

  var description: String {
    let type = String(reflecting: type)
    return id.map { "\(type) (\($0))" } ?? type
  }
}
