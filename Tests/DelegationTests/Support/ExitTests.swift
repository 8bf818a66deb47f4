import Testing

/// Whether a process that was to stop wrote a text to standard error.
func said(_ result: ExitTest.Result?, _ text: String) -> Bool {
  standardError(of: result).contains(text)
}

/// What a process wrote to standard error.
func standardError(of result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
