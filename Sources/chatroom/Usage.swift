extension Options {
  static let usage = """
    usage: chatroom [--words FILE] [--limit N] [--window SECONDS] [--pace SECONDS]
           chatroom --simulate N [--tasks N] [--seed N] [--words FILE] [--limit N] [--window SECONDS]

    A chat room on standard input, whose rules are delegates of a DelegateHub: they are asked about
    every line "name: text", and any of them can veto it. /help says what else can be typed.

      --words FILE       words that the moderator vetoes, in place of its own; # starts a comment
      --limit N          how many messages a sender may send within the window (default 5)
      --window SECONDS   how long that is (default 10)
      --pace SECONDS     take messages to be sent this far apart, whenever they really come
      --simulate N       make N messages from many tasks at once, and count what comes of them
      --tasks N          from how many tasks, 10000 at most (default 100)
      --seed N           which messages (default 1)
      --help             this

    Exit status: 0, or 64 for a wrong command line, 65 or 66 for a bad or missing file of words,
    70 if a simulation's counts do not add up, 74 if the input cannot be read or the output not written.

    """
}
