/// Who a subscriber is, for people; put into words when somebody reads it.
struct SubscriberName: Sendable, CustomStringConvertible {
  let type: any AnyObject.Type
  /// Who it is, if not the object.
  let id: Identity?

  var description: String {
    let type = String(reflecting: type)
    return id.map { "\(type) (\($0))" } ?? type
  }
}
