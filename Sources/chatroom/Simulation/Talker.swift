/// One task's share of the traffic: a few people who talk, one of whom is muted now and then.
struct Talker: Sendable {
  private static let phrases = [
    "good morning", "has anybody seen my keys?", "the build is green", "lunch at noon",
    "who broke the build?", "see you tomorrow", "that was me, sorry", "it works on my machine",
  ]

  /// How many tasks mute somebody now and then.
  ///
  /// Each muting is a rule, and all are asked about every message: with more of them, the time would grow
  /// with the square of the number of tasks.
  private static let mutingTasks = 100

  private(set) var tally = Tally()

  private let people: [String]
  private let unwelcome: [String]
  private let mutes: Bool
  private var random: SplitMix64
  /// This task's own time, in which two messages come each second.
  private var now = Duration.zero
  private var muted: String?

  /// Prepares a share.
  ///
  /// - Parameters:
  ///   - number: which task this is; no two have the same people.
  ///   - seed: which traffic to make.
  ///   - words: what the moderator does not want to read.
  init(number: Int, seed: UInt64, words: WordList) {
    people = ["ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal"].map { "\($0)\(number)" }
    unwelcome = words.sorted
    mutes = number < Self.mutingTasks
    // Through the generator once, or neighbours would say much the same.
    var seeds = SplitMix64(seed: seed &+ UInt64(number))
    random = SplitMix64(seed: seeds.next())
  }

  mutating func talk(_ count: Int, in room: Room, progress: Progress) async {
    for _ in 0..<count {
      if mutes { await muteOrUnmute(in: room) }
      tally.count(await room.post(nextMessage()))
      progress.advance()
    }
  }

  /// Lifts the muting that is still in force.
  mutating func leave(_ room: Room) async {
    if let muted { await room.unmute(muted) }
    muted = nil
  }

  /// Now and then lets a rule come, and after a while go, amid all the others' messages.
  private mutating func muteOrUnmute(in room: Room) async {
    if muted != nil {
      if oneIn(20) { await leave(room) }
    } else if oneIn(200) {
      let name = people.randomElement(using: &random)!
      await room.mute(name)
      muted = name
      tally.mutings += 1
    }
  }

  private mutating func nextMessage() -> Message {
    now += .milliseconds(Int.random(in: 1...1000, using: &random))
    let name = people.randomElement(using: &random)!
    var text = Self.phrases.randomElement(using: &random)!
    if oneIn(50), let word = unwelcome.randomElement(using: &random) { text += ", \(word)!" }
    return Message(from: name, text, at: now)
  }

  private mutating func oneIn(_ count: Int) -> Bool {
    Int.random(in: 0..<count, using: &random) == 0
  }
}
