/// Shows everybody what was delivered, and what was not and why.
///
/// On the main actor, where it may wait for a slow terminal: a handler that blocks its thread would
/// otherwise take away one that all share. The hub awaits it there as it awaits any other.
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
