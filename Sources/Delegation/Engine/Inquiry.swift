/// What a question brings for its round, without types.
@frozen
@usableFromInline
struct Inquiry: Sendable {
  @usableFromInline
  let question: Round.Question
  /// Counts those that have not answered at the deadline, if there is one; that they are late is noted if the time of
  /// the question is given.
  @usableFromInline
  var expire: @Sendable (Round, Duration?) -> Void = { _, _ in }

  /// - Parameter question: one worker's part.
  @inlinable
  init(_ question: @escaping Round.Question) { self.question = question }
}
