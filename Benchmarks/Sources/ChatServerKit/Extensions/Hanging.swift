/// Never answers and never comes back, not even when it is cancelled: what a server has to survive.
final class Hanging: MessageRule, RoomObserver {
  let name = "hanging"
  let options = ExtensionOptions()

  func verdict(on draft: Draft) async -> Verdict {
    // Held by nobody, so nobody can resume it.
    await withUnsafeContinuation { (_: UnsafeContinuation<Verdict, Never>) in }
  }
}
