import NIOCore
import Testing

@testable import ChatServerKit

@Suite("What is said and how people and rooms are called")
struct TextTests {
  @Test(
    "control characters and ends of lines are replaced, what nobody sees goes, all else is left")
  func harmless() {
    #expect(
      "a\tb\rc\u{1B}[2Jd\0e\u{7F}f\u{85}g\u{2028}h\u{2029}i".harmless
        == "a b\u{FFFD}c\u{FFFD}[2Jd\u{FFFD}e\u{FFFD}f\u{FFFD}g\u{FFFD}h\u{FFFD}i")
    #expect("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}e\u{61C}f\u{AD}g".harmless == "abcdefg")
    for text in [
      "", "hello", "🏴\u{E0067}\u{E007F}", "\u{600}1", "naïve – “¿qué?”", "👩‍👩‍👧‍👦 ❤️ שלום",
      "\u{E9}\u{301}",
    ] {
      #expect(text.harmless == text)
    }
  }

  @Test(
    "names are of ASCII letters, digits and some signs, and not too long; rooms are in lower case")
  func names() throws {
    for name in ["ann", "Ann-2", "a_b.c", String(repeating: "x", count: 32)] {
      #expect(try Names.user(name) == name)
    }
    #expect(try Names.room("Staff-1") == "staff-1")
    for name in ["", " ", "a b", "a:b", "ann\u{200B}", "àñn", "ａｎｎ", "a/b", "\r"]
      + [String(repeating: "x", count: 33)]
    {
      #expect(throws: Refusal.self) { try Names.user(name) }
      #expect(throws: Refusal.self) { try Names.room(name) }
    }
  }

  @Test("a message's text is in its line")
  func message() {
    let message = Message(room: "tea", number: 12, sender: "ann", text: "hé llo", after: 100)
    #expect(message.text == "hé llo")
    #expect(String(buffer: message.line) == "msg tea 12 ann hé llo\n")
    #expect(message.end == 100 + message.size)
  }

  @Test("words that are not welcome are found in capitals, and with what nobody sees in them")
  func moderator() {
    let moderator = Moderator()
    func verdict(_ text: String) -> Verdict {
      moderator.verdict(
        on: Draft(
          room: "tea", sender: User(name: "ann", role: .guest), connection: 1, text: text))
    }
    for text in [
      "spam", "cheap SPAM!", "s\u{200B}p\u{AD}am", "\u{2060}sp\u{FE0F}a\u{200D}m", "ſpam",
    ] {
      #expect(verdict(text) == .objects(because: "\"spam\" is not welcome here"), "\(text)")
    }
    #expect("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}e\u{61C}f\u{AD}g".harmless == "abcdefg")
    for text in ["", "hello", "🏴\u{E0067}\u{E007F}", "\u{600}1", "spammer", "👩‍👩‍👧‍👦"] {
      #expect(verdict(text) == .agrees)
    }
  }

  @Test(
    "lines are cut where they end; one that is too long is refused, and what has no end comes last")
  func lines() throws {
    var splitter = LineSplitter(limit: 4)
    func append(_ text: String) { splitter.append(ByteBuffer(string: text)) }
    append("one\r\n\n\r\nfo")
    #expect(try splitter.next() == "one")
    #expect(try splitter.next() == "")
    #expect(try splitter.next() == "")
    #expect(try splitter.next() == nil)
    append("ur\nfive5")
    #expect(try splitter.next() == "four")
    #expect(throws: Refusal("a line may have at most 4 bytes")) { try splitter.next() }
    splitter = LineSplitter(limit: 4)
    append("four")
    #expect(try splitter.next() == nil)
    #expect(splitter.last() == "four")
    #expect(splitter.last() == nil)
  }

  @Test(
    "history keeps so many messages and so many bytes of a room, and fewer if there are many rooms")
  func history() async throws {
    let history = History(capacity: 10, bytes: RoomShare(each: 10_000, all: 20_000))
    var end = 0
    func post(_ number: Int, _ size: Int) {
      let message = Message(
        room: "tea", number: number, sender: "ann", text: String(repeating: "x", count: size),
        after: end)
      end = message.end
      history.didPost(message)
    }
    for number in 1...25 { post(number, 10) }
    #expect(await history.recent(100, in: "tea")?.map(\.number) == Array(16...25))
    for number in 26...40 { post(number, 3000) }
    #expect(await history.recent(100, in: "tea")?.map(\.number) == [38, 39, 40])
    for room in 1...3 {
      history.didPost(Message(room: "room \(room)", number: 1, sender: "ann", text: "hello"))
    }
    post(41, 3000)
    #expect(await history.recent(100, in: "tea")?.map(\.number) == [41], "a fourth of 20,000")
  }
}
