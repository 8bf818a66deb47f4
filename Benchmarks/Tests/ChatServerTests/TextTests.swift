import NIOCore
import Testing

@testable import ChatServerKit

@Suite("What is said and how people and rooms are called")
struct TextTests {
  @Test("control characters and ends of lines are replaced, all else is left")
  func harmless() {
    #expect(
      "a\tb\rc\u{1B}[2Jd\0e\u{7F}f\u{85}g\u{2028}h\u{2029}i".harmless
        == "a b\u{FFFD}c\u{FFFD}[2Jd\u{FFFD}e\u{FFFD}f\u{FFFD}g\u{FFFD}h\u{FFFD}i")
    for text in ["", "hello", "naïve – “¿qué?”", "👩‍👩‍👧‍👦 ❤️ שלום", "\u{E9}\u{301}"] {
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

  @Test("history keeps so many messages and so many bytes of a room")
  func history() async throws {
    let history = History(capacity: 10, byteLimit: 10_000)
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
  }
}
