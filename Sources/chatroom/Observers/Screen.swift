/// Shows everybody what was delivered, and what was not and why.
///
/// On the main actor, where it may wait for a slow terminal: elsewhere a handler that blocks would take a thread from
/// the pool that all share. The hub awaits this handler as any other.
@MainActor
final class Screen: RoomObserver {
  func room(_ room: Room, didDeliver message: Message) {
    show(.delivered, message.shown)
  }

  func room(_ room: Room, didVeto message: Message, for veto: Veto) {
    show(.vetoed, "\(message.shown)  [\(veto.rule): \(veto.reason)]")
  }

  private func show(_ label: Page.Label, _ line: String) {
    var page = Page()
    page.add(label, line)
    Terminal.write(page.text)
  }
}
