/// Somebody who may change what is said, after the rules have agreed to it.
///
/// They are asked one after another; each gets what the one before has made of it. If that takes too long,
/// the text is what it has become by then.
protocol MessageRewriter: AnyObject, Sendable {
  /// The text as it is to be; `nil` for no message at all.
  func rewrite(_ text: String, of draft: Draft) async -> String?
}
