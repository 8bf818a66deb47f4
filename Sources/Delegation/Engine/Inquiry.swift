/// What a question brings for its round, without types.
@frozen
@usableFromInline
struct Inquiry: Sendable {
  @usableFromInline
  let question: Round.Question
  /// Counts those that have not answered at the deadline; whether they are late is noted if the second argument says
  /// so.
  @usableFromInline
  let expire: @Sendable (Round, Bool) -> Void

  /// - Parameters:
  ///   - question: one worker's part.
  ///   - expire: what to do at the deadline, if there is one.
  @inlinable
  init(
    _ question: @escaping Round.Question,
    expiring expire: @escaping @Sendable (Round, Bool) -> Void = { _, _ in }
  ) {
    self.question = question
    self.expire = expire
  }
}
