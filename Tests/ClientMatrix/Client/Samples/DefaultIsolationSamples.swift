import Delegation

// What the page Where code runs shows of modules whose default isolation is the main actor, and
// which spell an existential in the short way.
#if MAIN_ACTOR_BY_DEFAULT && !hasFeature(ExistentialAny)
  // sample: Subscribers that live anywhere
  nonisolated protocol PlayerDelegate: AnyObject, Sendable {
    func didStart(_ song: String)
    func mayStart(_ song: String) async -> Bool
  }

  final class Journal: PlayerDelegate {
    func didStart(_ song: String) { note(song) }  // on a worker
    func mayStart(_ song: String) async -> Bool { true }  // on a worker
  }

  @MainActor
  final class SongList: PlayerDelegate {
    private var songs = ["Intro"]
    nonisolated func didStart(_ song: String) { note(song) }  // on a worker
    // On the main actor.
    @MainActor func mayStart(_ song: String) -> Bool { songs.contains(song) }
  }
  // end of sample

  protocol SongDisplay: AnyObject, Sendable {
    func show(_ song: String)
  }

  final class TitleLabel: SongDisplay {
    private(set) var text = ""
    func show(_ song: String) { text = song }  // on the main actor
  }

  private nonisolated let notes = Log()

  nonisolated func note(_ song: String) { notes.note(song) }

  func samples() async {
    let hub = DelegateHub()
    let (journal, list, label) = (Journal(), SongList(), TitleLabel())
    hub.subscribe(journal, to: PlayerDelegate.self)
    hub.subscribe(list, to: PlayerDelegate.self)
    hub.subscribe(label, to: SongDisplay.self)
    if await hub[PlayerDelegate.self].vote({ await $0.mayStart("Intro") }) {
      hub[PlayerDelegate.self].notify { $0.didStart("Intro") }
    }
    await hub.drain()
    notes.expect("Intro", "Intro", at: .pool)
    // Both run on the main actor.
    hub[SongDisplay.self].notify { await $0.show("Intro") }
    hub[SongDisplay.self].notify { @MainActor in $0.show("Outro") }
    await hub.drain()
    Checks.expect(label.text, is: "Outro")
  }
#else
  nonisolated func samples() async {}
#endif
