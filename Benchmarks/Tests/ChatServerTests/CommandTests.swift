import Testing

@testable import ChatServerKit

@Suite("Commands")
struct CommandTests {
  @Test("lines that are commands")
  func good() throws {
    let lines: [(String, Command)] = [
      ("login ann", .logIn(Credentials(name: "ann", password: nil))),
      ("login ann a b", .logIn(Credentials(name: "ann", password: "a b"))),
      ("join tea", .join(room: "tea")),
      ("leave tea", .leave(room: "tea")),
      ("say tea hello you", .say(room: "tea", text: "hello you")),
      ("say tea   ", .say(room: "tea", text: "  ")),
      ("history tea", .history(room: "tea", count: 10)),
      ("history tea 3", .history(room: "tea", count: 3)),
      ("who tea", .who(room: "tea")),
      ("stats", .statistics),
      ("unload audit", .unload("audit")),
      ("reload audit", .reload("audit")),
    ]
    for (line, command) in lines { #expect(try Command(line) == command, "\(line)") }
  }

  @Test(
    "lines that are none",
    arguments: [
      "", " ", "frob", "login", "join", "say", "say tea", "history tea x", "history tea 0",
    ])
  func bad(_ line: String) {
    #expect(throws: Refusal.self) { try Command(line) }
  }
}
