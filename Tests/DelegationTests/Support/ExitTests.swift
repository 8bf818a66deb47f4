import Foundation
import Testing

/// Whether a process that was to stop wrote a text to standard error.
func said(_ result: ExitTest.Result?, _ text: String) -> Bool {
  standardError(of: result).contains(text)
}

/// What a process wrote to standard error.
func standardError(of result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

/// The standard error of the process that a test runs in.
enum StandardError {
  /// Passes on what is written to it, and after each piece of it calls a closure with all of it so far.
  static func passOn(_ afterwards: @escaping @Sendable (String) -> Void) {
    let pipe = Pipe()
    let former = FileHandle(fileDescriptor: dup(STDERR_FILENO), closeOnDealloc: true)
    dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
    Thread {
      var all = Data()
      while case let written = pipe.fileHandleForReading.availableData, !written.isEmpty {
        former.write(written)
        all += written
        afterwards(String(decoding: all, as: UTF8.self))
      }
    }.start()
  }
}
